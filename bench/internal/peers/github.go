package peers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v75/github"
)

func githubPeer() peer {
	issue := func(number int, filler string) string {
		return fmt.Sprintf(`{"id":%d,"node_id":"MDU6SXNzdWUx","number":%d,"state":"open","title":"Invoice","body":"%s",`+
			`"user":{"login":"octocat","id":1},"labels":[{"id":208,"name":"bug"}],"comments":0,`+
			`"created_at":"2031-05-04T10:00:00Z","updated_at":"2031-05-04T10:00:00Z"}`, 1+number, 1347+number, filler)
	}
	return peer{
		id: "github", module: "github.com/google/go-github/v75",
		one:     padded(oneSize, func(filler string) string { return issue(0, filler) }),
		page:    listed(`[`, issue, `]`),
		missing: `{"message":"Not Found","documentation_url":"https://docs.example/rest","status":"404"}`,
		sdk:     githubSDK, hand: githubByHand,
	}
}

func githubSDK(base string, client *http.Client) calls {
	api := github.NewClient(client).WithAuthToken(token)
	api.BaseURL, _ = url.Parse(base)
	get := func(ctx context.Context) (*github.Issue, error) {
		issue, _, err := api.Issues.Get(ctx, "octocat", "hello", 1347)
		return issue, err
	}
	return calls{
		get: reads(get),
		page: reads(func(ctx context.Context) ([]*github.Issue, error) {
			options := &github.IssueListByRepoOptions{ListOptions: github.ListOptions{PerPage: 100}}
			issues, _, err := api.Issues.ListByRepo(ctx, "octocat", "hello", options)
			return issues, err
		}),
		refused: refuses[*github.ErrorResponse](get),
	}
}

type githubIssue struct {
	ID     int64  `json:"id"`
	NodeID string `json:"node_id"`
	Number int    `json:"number"`
	State  string `json:"state"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	User   struct {
		Login string `json:"login"`
		ID    int64  `json:"id"`
	} `json:"user"`
	Labels []struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	} `json:"labels"`
	Comments  int       `json:"comments"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func githubByHand(base string, client *http.Client) calls {
	c := byHand{base, client}
	get := fetch[githubIssue](c, http.MethodGet, "repos/octocat/hello/issues/1347")
	return calls{
		get:     reads(get),
		page:    reads(fetch[[]githubIssue](c, http.MethodGet, "repos/octocat/hello/issues?per_page=100")),
		refused: refuses[*refusal](get),
	}
}
