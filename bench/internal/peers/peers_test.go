package peers

import (
	"encoding/json"
	"testing"

	"github.com/google/go-github/v75/github"
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/pagination"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"

	"github.com/moneymovement/moneymovement-go/bench/internal/cases"
	"github.com/moneymovement/moneymovement-go/bench/internal/service"
)

// Both sides of each case send the same request, and read the same.
func TestBothWaysDoTheSame(t *testing.T) {
	for _, c := range All() {
		t.Run(c.ID, func(t *testing.T) {
			library, hand, err := c.Open()
			require.NoError(t, err)
			got, bySDK := once(t, library)
			want, byHand := once(t, hand)
			assert.Equal(t, byHand, bySDK)
			facts := seen(t, want)
			assert.Equal(t, facts, seen(t, got))
			assert.NotEmpty(t, facts)
		})
	}
}

// once returns what a side has read, and the method and address of its request.
func once(t *testing.T, side cases.Side) (value any, request string) {
	t.Helper()
	side.Service.Keep = func(sent service.Sent) {
		require.Empty(t, request, "a second request")
		request = sent.Method + " " + sent.URL
	}
	value, err := side.Read(t.Context())
	require.NoError(t, err)
	return value, request
}

// entry is what is compared of a resource: its id, and its longest text.
type entry struct {
	id   any
	text string
}

func seen(t *testing.T, value any) (facts []any) {
	t.Helper()
	add := func(id any, text string) { facts = append(facts, entry{id, text}) }
	switch v := value.(type) {
	case *stripe.Payout:
		add(v.ID, v.Description)
	case *stripePayout:
		add(v.ID, v.Description)
	case []*stripe.BalanceTransaction:
		for _, e := range v {
			add(e.ID, e.Description)
		}
	case *stripePage:
		for _, e := range v.Data {
			add(e.ID, e.Description)
		}
	case *hcloud.SSHKey:
		add(v.ID, v.PublicKey)
	case *hcloudOne:
		add(v.SSHKey.ID, v.SSHKey.PublicKey)
	case []*hcloud.SSHKey:
		for _, e := range v {
			add(e.ID, e.PublicKey)
		}
	case *hcloudPage:
		for _, e := range v.SSHKeys {
			add(e.ID, e.PublicKey)
		}
	case *github.Issue:
		add(v.GetID(), v.GetBody())
	case *githubIssue:
		add(v.ID, v.Body)
	case []*github.Issue:
		for _, e := range v {
			add(e.GetID(), e.GetBody())
		}
	case *[]githubIssue:
		for _, e := range *v {
			add(e.ID, e.Body)
		}
	case *openai.FileObject:
		add(v.ID, v.Filename)
	case *openaiFile:
		add(v.ID, v.Filename)
	case *pagination.CursorPage[openai.FileObject]:
		for _, e := range v.Data {
			add(e.ID, e.Filename)
		}
	case *openaiPage:
		for _, e := range v.Data {
			add(e.ID, e.Filename)
		}
	case *refusal:
		add(v.Code, v.Message)
	case *stripe.Error:
		add(string(v.Code), v.Msg)
	case hcloud.Error:
		add(string(v.Code), v.Message)
	case *github.ErrorResponse:
		add("", v.Message)
	case *openai.Error:
		add(v.Code, v.Message)
	default:
		require.Failf(t, "nothing to compare with", "%T", value)
	}
	return facts
}

// The responses are JSON, and as long as the SDK's.
func TestShapesHaveTheSizeOfTheSDKs(t *testing.T) {
	for _, p := range peers() {
		assert.Len(t, p.one, oneSize, p.id)
		assert.InDelta(t, pageSize, len(p.page), service.PageLength, p.id)
		for _, body := range []string{p.one, p.page, p.missing} {
			assert.True(t, json.Valid([]byte(body)), p.id)
		}
	}
}
