package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v75/github"
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/pagination"
	"github.com/stripe/stripe-go/v85"
)

// peer is the SDK of another service, to compare the SDK with. It reads a resource of its own shape, padded to the size
// of ours, beside the client written by hand, which reads the same bytes.
type peer struct {
	id string
	// one, page and missing are the responses: a resource, a hundred of them, and a refusal with status 404.
	one, page, missing string
	hand               func(*byHand) peerCalls
	sdk                func(base string, client *http.Client) peerCalls
}

// peerCalls are what a side can do. refused returns the typed error as what it has read.
type peerCalls struct{ get, page, refused read }

func peers() []peer { return []peer{stripePeer(), hcloudPeer(), githubPeer(), openaiPeer()} }

// peerRows are the rows of all peers, in memory.
func peerRows() (rows []row) {
	for _, p := range peers() {
		for _, kind := range []struct {
			id, body string
			status   int
			choose   func(peerCalls) read
		}{
			{"get", p.one, http.StatusOK, func(c peerCalls) read { return c.get }},
			{"page", p.page, http.StatusOK, func(c peerCalls) read { return c.page }},
			{"error-404", p.missing, http.StatusNotFound, func(c peerCalls) read { return c.refused }},
		} {
			rows = append(rows, row{p.id + "/" + kind.id, 1, func(_ testing.TB, sdk bool) (*service, read) {
				s := always(kind.status, kind.body)
				client := &http.Client{Transport: s}
				if sdk {
					return s, kind.choose(p.sdk(inMemory, client))
				}
				return s, kind.choose(p.hand(&byHand{http: client, base: inMemory, token: token}))
			}})
		}
	}
	return rows
}

// reads returns what a call reads.
func reads[T any](call func(ctx context.Context) (T, error)) read {
	return func(ctx context.Context) (any, error) { return call(ctx) }
}

// refuses is reads for a call that must end with an error of the type E.
func refuses[E error, T any](call func(ctx context.Context) (T, error)) read {
	return refused[E](func(struct{}) read { return reads(call) })(struct{}{})
}

// peerByHand is what the hand-written client does for a peer: it reads one at an address, and a page at another one.
func peerByHand[One, Page any](one, page string) func(*byHand) peerCalls {
	return peerRefusing[One, Page](one, page, http.MethodGet)
}

// peerRefusing is peerByHand for a peer whose refusal is that of another method.
func peerRefusing[One, Page any](one, page, method string) func(*byHand) peerCalls {
	return func(c *byHand) peerCalls {
		return peerCalls{
			get: func(ctx context.Context) (any, error) { return handCall[One](ctx, c, http.MethodGet, one, "", nil) },
			page: func(ctx context.Context) (any, error) {
				return handCall[Page](ctx, c, http.MethodGet, page, "", nil)
			},
			refused: refuses[*handRefusal](func(ctx context.Context) (*One, error) {
				return handCall[One](ctx, c, method, one, "", nil)
			}),
		}
	}
}

const words = "paid in full for the work of May "

// padded returns a text with so much filler that it has this size.
func padded(size int, text func(filler string) string) string {
	missing := max(0, size-len(text("")))
	return text(strings.Repeat(words, missing/len(words)+1)[:missing])
}

// onePadded returns a response with one resource, of the size of the SDK's payout.
func onePadded(before string, entry func(number int, filler string) string, after string) string {
	return padded(len(payout(plain)), func(filler string) string { return before + entry(0, filler) + after })
}

// listed returns a page of a hundred entries between two texts, of the size of the SDK's page.
func listed(before string, entry func(number int, filler string) string, after string) string {
	each := (len(ledgerPage(plain, 0, "1")) - len(before) - len(after)) / pageLength
	items := make([]string, pageLength)
	for i := range items {
		items[i] = padded(each-1, func(filler string) string { return entry(i, filler) })
	}
	return before + strings.Join(items, ",") + after
}

type stripePayout struct {
	ID                   string            `json:"id"`
	Object               string            `json:"object"`
	Amount               int64             `json:"amount"`
	ArrivalDate          int64             `json:"arrival_date"`
	Automatic            bool              `json:"automatic"`
	BalanceTransaction   string            `json:"balance_transaction"`
	Created              int64             `json:"created"`
	Currency             string            `json:"currency"`
	Description          string            `json:"description"`
	Destination          string            `json:"destination"`
	Livemode             bool              `json:"livemode"`
	Metadata             map[string]string `json:"metadata"`
	Method               string            `json:"method"`
	ReconciliationStatus string            `json:"reconciliation_status"`
	SourceType           string            `json:"source_type"`
	StatementDescriptor  string            `json:"statement_descriptor"`
	Status               string            `json:"status"`
	Type                 string            `json:"type"`
}

type stripePage struct {
	Data []struct {
		ID          string `json:"id"`
		Object      string `json:"object"`
		Amount      int64  `json:"amount"`
		AvailableOn int64  `json:"available_on"`
		Created     int64  `json:"created"`
		Currency    string `json:"currency"`
		Description string `json:"description"`
		Fee         int64  `json:"fee"`
		Net         int64  `json:"net"`
		Source      string `json:"source"`
		Status      string `json:"status"`
		Type        string `json:"type"`
	} `json:"data"`
	HasMore bool `json:"has_more"`
}

func stripePeer() peer {
	return peer{
		id: "stripe",
		one: onePadded("", func(_ int, filler string) string {
			return `{"id":"po_1OaFDbEcg9tTZuTgNYmX0PKB","object":"payout","amount":125050,"arrival_date":1936,` +
				`"automatic":true,"balance_transaction":"txn_1OaFDcEcg9tTZuTgYMR25tSe","created":1935,` +
				`"currency":"eur","description":"` + filler + `","destination":"ba_1MtIhL2eZvKYlo2CAElKwKu2","livemode":false,` +
				`"metadata":{"invoice":"42"},"method":"standard","reconciliation_status":"completed","source_type":"card",` +
				`"statement_descriptor":"Invoice 42","status":"pending","type":"bank_account"}`
		}, ""),
		page: listed(`{"object":"list","data":[`, func(number int, filler string) string {
			return fmt.Sprintf(`{"id":"txn_%08d","object":"balance_transaction","amount":%d,"available_on":1936,`+
				`"created":1935,"currency":"eur","description":"%s","fee":105,"net":1193,"source":"ch_%08d",`+
				`"status":"available","type":"charge"}`, number, 1000+number*37, filler, number)
		}, `],"has_more":false,"url":"/v1/balance_transactions"}`),
		missing: `{"error":{"code":"resource_missing","message":"No such payout: 'po_1'","param":"payout",` +
			`"type":"invalid_request_error"}}`,
		hand: peerByHand[stripePayout, stripePage]("/v1/payouts/po_1OaFDbEcg9tTZuTgNYmX0PKB",
			"/v1/balance_transactions?limit=100"),
		sdk: func(base string, client *http.Client) peerCalls {
			api := stripe.NewClient("sk_test_of_nobody", stripe.WithBackends(stripe.NewBackendsWithConfig(
				&stripe.BackendConfig{HTTPClient: client, URL: stripe.String(base), MaxNetworkRetries: stripe.Int64(0),
					LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull}})))
			get := func(ctx context.Context) (*stripe.Payout, error) {
				return api.V1Payouts.Retrieve(ctx, "po_1OaFDbEcg9tTZuTgNYmX0PKB", nil)
			}
			return peerCalls{
				get: reads(get),
				page: reads(func(ctx context.Context) (all []*stripe.BalanceTransaction, err error) {
					params := &stripe.BalanceTransactionListParams{}
					params.Limit = stripe.Int64(100)
					for entry, err := range api.V1BalanceTransactions.List(ctx, params).All(ctx) {
						if err != nil {
							return nil, err
						}
						all = append(all, entry)
					}
					return all, nil
				}),
				refused: refuses[*stripe.Error](get),
			}
		},
	}
}

type hcloudKey struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	Fingerprint string            `json:"fingerprint"`
	PublicKey   string            `json:"public_key"`
	Labels      map[string]string `json:"labels"`
	Created     time.Time         `json:"created"`
}

type hcloudOne struct {
	SSHKey hcloudKey `json:"ssh_key"`
}

type hcloudPage struct {
	SSHKeys []hcloudKey `json:"ssh_keys"`
	Meta    struct {
		Pagination struct {
			NextPage     *int `json:"next_page"`
			TotalEntries int  `json:"total_entries"`
		} `json:"pagination"`
	} `json:"meta"`
}

func hcloudPeer() peer {
	key := func(number int, filler string) string {
		return fmt.Sprintf(`{"id":%d,"name":"key-%d","fingerprint":"b7:2f:30:a0:2f:6c:58:6c:21:04:58:61:ba:06:3b:2f",`+
			`"public_key":"ssh-rsa %s","labels":{"env":"dev"},"created":"2031-05-04T10:00:00Z"}`, 2323+number, number,
			filler)
	}
	return peer{
		id:  "hcloud",
		one: onePadded(`{"ssh_key":`, key, `}`),
		page: listed(`{"ssh_keys":[`, key, `],"meta":{"pagination":{"page":1,"per_page":100,"previous_page":null,`+
			`"next_page":null,"last_page":1,"total_entries":100}}}`),
		missing: `{"error":{"code":"not_found","message":"SSH key not found","details":null}}`,
		// a read of a key that is not there returns nil, and no error
		hand: peerRefusing[hcloudOne, hcloudPage]("/ssh_keys/2323", "/ssh_keys?page=1&per_page=100", http.MethodDelete),
		sdk: func(base string, client *http.Client) peerCalls {
			api := hcloud.NewClient(hcloud.WithEndpoint(base), hcloud.WithToken(token),
				hcloud.WithHTTPClient(client), hcloud.WithRetryOpts(hcloud.RetryOpts{MaxRetries: 0}))
			return peerCalls{
				get: reads(func(ctx context.Context) (*hcloud.SSHKey, error) {
					key, _, err := api.SSHKey.GetByID(ctx, 2323)
					return key, err
				}),
				page: reads(func(ctx context.Context) ([]*hcloud.SSHKey, error) {
					keys, _, err := api.SSHKey.List(ctx,
						hcloud.SSHKeyListOpts{ListOpts: hcloud.ListOpts{Page: 1, PerPage: 100}})
					return keys, err
				}),
				refused: refuses[hcloud.Error](func(ctx context.Context) (*hcloud.Response, error) {
					return api.SSHKey.Delete(ctx, &hcloud.SSHKey{ID: 2323})
				}),
			}
		},
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

func githubPeer() peer {
	issue := func(number int, filler string) string {
		return fmt.Sprintf(`{"id":%d,"node_id":"MDU6SXNzdWUx","number":%d,"state":"open","title":"Invoice",`+
			`"body":"%s","user":{"login":"octocat","id":1},"labels":[{"id":208,"name":"bug"}],"comments":0,`+
			`"created_at":"2031-05-04T10:00:00Z","updated_at":"2031-05-04T10:00:00Z"}`, 1+number, 1347+number, filler)
	}
	return peer{
		id:      "github",
		one:     onePadded("", issue, ""),
		page:    listed(`[`, issue, `]`),
		missing: `{"message":"Not Found","documentation_url":"https://docs.example/rest","status":"404"}`,
		hand: peerByHand[githubIssue, []githubIssue]("/repos/octocat/hello/issues/1347",
			"/repos/octocat/hello/issues?per_page=100"),
		sdk: func(base string, client *http.Client) peerCalls {
			api := github.NewClient(client).WithAuthToken(token)
			api.BaseURL, _ = url.Parse(base + "/")
			get := func(ctx context.Context) (*github.Issue, error) {
				issue, _, err := api.Issues.Get(ctx, "octocat", "hello", 1347)
				return issue, err
			}
			return peerCalls{
				get: reads(get),
				page: reads(func(ctx context.Context) ([]*github.Issue, error) {
					options := &github.IssueListByRepoOptions{ListOptions: github.ListOptions{PerPage: 100}}
					issues, _, err := api.Issues.ListByRepo(ctx, "octocat", "hello", options)
					return issues, err
				}),
				refused: refuses[*github.ErrorResponse](get),
			}
		},
	}
}

type openaiFile struct {
	ID        string `json:"id"`
	Object    string `json:"object"`
	Bytes     int64  `json:"bytes"`
	CreatedAt int64  `json:"created_at"`
	ExpiresAt int64  `json:"expires_at"`
	Filename  string `json:"filename"`
	Purpose   string `json:"purpose"`
	Status    string `json:"status"`
}

type openaiPage struct {
	Data    []openaiFile `json:"data"`
	HasMore bool         `json:"has_more"`
}

func openaiPeer() peer {
	file := func(number int, filler string) string {
		return fmt.Sprintf(`{"id":"file-%08d","object":"file","bytes":120000,"created_at":1935000000,`+
			`"expires_at":1936000000,"filename":"%s.jsonl","purpose":"batch","status":"processed"}`, number, filler)
	}
	return peer{
		id:   "openai",
		one:  onePadded("", file, ""),
		page: listed(`{"object":"list","data":[`, file, `],"has_more":false}`),
		missing: `{"error":{"message":"No such File object: file-1","type":"invalid_request_error","param":"id",` +
			`"code":"not_found"}}`,
		hand: peerByHand[openaiFile, openaiPage]("/files/file-00000000", "/files?limit=100"),
		sdk: func(base string, client *http.Client) peerCalls {
			api := openai.NewClient(option.WithBaseURL(base+"/"), option.WithAPIKey(token),
				option.WithHTTPClient(client), option.WithMaxRetries(0))
			get := func(ctx context.Context) (*openai.FileObject, error) { return api.Files.Get(ctx, "file-00000000") }
			return peerCalls{
				get: reads(get),
				page: reads(func(ctx context.Context) (*pagination.CursorPage[openai.FileObject], error) {
					return api.Files.List(ctx, openai.FileListParams{Limit: openai.Int(100)})
				}),
				refused: refuses[*openai.Error](get),
			}
		},
	}
}
