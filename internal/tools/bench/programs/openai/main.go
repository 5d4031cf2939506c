// Command openai reads one file with openai-go.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	api := openai.NewClient(option.WithBaseURL(os.Args[1]+"/"), option.WithAPIKey("token-of-nobody"))
	file, err := api.Files.Get(context.Background(), "file-1")
	fmt.Println(file, err)
}
