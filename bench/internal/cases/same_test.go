package cases

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/bench/internal/hand"
	"github.com/moneymovement/moneymovement-go/bench/internal/service"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// TestBothWaysDoTheSame checks that the comparison is fair: both sides send the same requests, and read the same from
// the responses.
func TestBothWaysDoTheSame(t *testing.T) {
	for _, c := range All() {
		if c.Callers > 1 {
			continue // the same work, more often
		}
		t.Run(c.ID, func(t *testing.T) {
			sdk, hand, err := c.Open()
			require.NoError(t, err)
			defer sdk.Close()
			defer hand.Close()
			got, bySDK := once(t, sdk)
			want, byHand := once(t, hand)

			assert.Equal(t, stripped(byHand), stripped(bySDK))
			assert.JSONEq(t, written(t, neutral(t, want)), written(t, neutral(t, got)))
		})
	}
}

// The login is shared: the challenge, the token, and the calls of all goroutines.
func TestOneLoginIsEnough(t *testing.T) {
	c := stampede().over(Memory, 1)
	sdk, hand, err := c.Open()
	require.NoError(t, err)
	for _, side := range []Side{sdk, hand} {
		_, sent := once(t, side)
		assert.Len(t, sent, atOnce+2)
	}
}

func TestPayingTakesThreeRequests(t *testing.T) {
	sdk, _, err := pay().over(Memory, 1).Open()
	require.NoError(t, err)
	_, sent := once(t, sdk)
	assert.Len(t, sent, 3)
}

// A connection is kept for each caller.
func TestConnectionsAreCounted(t *testing.T) {
	c := get().over(tcp, 1)
	sdk, hand, err := c.Open()
	require.NoError(t, err)
	defer sdk.Close()
	defer hand.Close()
	for _, side := range []Side{sdk, hand} {
		for range 3 {
			require.NoError(t, side.Call(t.Context()))
		}
		assert.EqualValues(t, 1, side.Opened())
	}
}

// once does the work once, and returns what it has read and the requests that it sent.
func once(t *testing.T, side Side) (any, []service.Sent) {
	t.Helper()
	var (
		mu   sync.Mutex
		sent []service.Sent
	)
	side.Service.Keep = func(request service.Sent) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, request)
	}
	value, err := side.Read(t.Context())
	require.NoError(t, err)
	return value, sent
}

// request is what both sides must send alike.
type request struct {
	method, url string
	header      http.Header
	body        any
}

// stripped leaves out what must differ: the User-Agent, times and signatures. Requests of the same kind that were sent
// at once are one.
func stripped(sent []service.Sent) (requests []request) {
	for _, s := range sent {
		header := http.Header{}
		for name, values := range s.Header {
			header[http.CanonicalHeaderKey(name)] = values
		}
		header.Del("User-Agent")
		header.Del("Content-Length")
		var body map[string]any
		if len(s.Body) > 0 && json.Unmarshal(s.Body, &body) != nil {
			body = map[string]any{"unreadable": string(s.Body)}
		}
		for _, name := range []string{"signature", "requestExpiry"} {
			if _, there := body[name]; there {
				body[name] = "differs"
			}
		}
		next := request{s.Method, s.URL, header, body}
		if !slices.ContainsFunc(requests, func(r request) bool { return assert.ObjectsAreEqual(r, next) }) {
			requests = append(requests, next)
		}
	}
	return requests
}

// neutral returns what a side has read in a form that both sides share.
func neutral(t *testing.T, value any) any {
	t.Helper()
	switch v := value.(type) {
	case *dapi.Payout, *dapi.TransactionPage:
		return v
	case *hand.Payout:
		return reread(t, v, new(dapi.Payout))
	case *hand.Page:
		return reread(t, v, new(dapi.TransactionPage))
	case tally:
		return []any{v.entries, neutral(t, v.last)}
	case dapi.Transaction:
		return &v
	case hand.Transaction:
		return reread(t, v, new(dapi.Transaction))
	case *hand.Refusal:
		return v
	case *errors.NotFound:
		return likeHand(v.Refusal, nil)
	case *errors.RateLimited:
		return likeHand(v.Refusal, nil)
	case *errors.ContactNotPayable:
		return likeHand(v.Refusal, v.Blockers)
	}
	require.Failf(t, "nothing to compare with", "%T", value)
	return nil
}

func likeHand(r errors.Refusal, blockers []errors.Blocker) *hand.Refusal {
	same := &hand.Refusal{Status: r.Status, Code: string(r.Code), Message: r.Message, RequestID: r.RequestID,
		RetryAfter: r.RetryAfter}
	for _, b := range blockers {
		same.Details.Blockers = append(same.Details.Blockers,
			hand.Blocker{Code: b.Code, Message: b.Message, Field: b.Field})
	}
	return same
}

// reread encodes what was decoded by hand and decodes it into the SDK's type, so that both have the same fields.
func reread(t *testing.T, hand, into any) any {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(written(t, hand)), into))
	return into
}

func written(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return strings.TrimSpace(string(text))
}
