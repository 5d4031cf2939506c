// Command github reads one issue with go-github.
package main

import (
	"context"
	"net/url"
	"os"

	"github.com/google/go-github/v75/github"

	"github.com/moneymovement/moneymovement-go/bench/programs/done"
)

func main() {
	api := github.NewClient(nil).WithAuthToken("token-of-nobody")
	api.BaseURL, _ = url.Parse(os.Args[1] + "/")
	issue, _, err := api.Issues.Get(context.Background(), "octocat", "hello", 1)
	done.With(issue, err)
}
