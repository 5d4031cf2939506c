// Command github reads one issue with go-github.
package main

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"github.com/google/go-github/v75/github"
)

func main() {
	api := github.NewClient(nil).WithAuthToken("token-of-nobody")
	api.BaseURL, _ = url.Parse(os.Args[1] + "/")
	issue, _, err := api.Issues.Get(context.Background(), "octocat", "hello", 1)
	fmt.Println(issue, err)
}
