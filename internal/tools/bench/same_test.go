package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// TestSDKAndHandWrittenClientDoTheSame checks that the comparison is fair: both sides send the same requests, and read
// the same from the responses.
func TestSDKAndHandWrittenClientDoTheSame(t *testing.T) {
	for _, r := range ownRows() {
		if r.callers > 1 {
			continue // the same work, more often
		}
		t.Run(r.name, func(t *testing.T) {
			want, byHand := once(t, r, false)
			got, bySDK := once(t, r, true)
			assert.Equal(t, stripped(byHand), stripped(bySDK))
			assert.JSONEq(t, written(t, neutral(t, want)), written(t, neutral(t, got)))
			if r.name == "memory/login" { // the challenge, the token, and the calls of all goroutines
				assert.Len(t, bySDK, atOnce+2)
				assert.Len(t, byHand, atOnce+2)
			}
		})
	}
}

// once does the work once, and returns what a side has read and the requests that it sent.
func once(t *testing.T, r row, sdk bool) (any, []sent) {
	t.Helper()
	var (
		mu       sync.Mutex
		requests []sent
	)
	service, read := r.open(t, sdk)
	service.keep = func(request sent) {
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, request)
	}
	value, err := read(t.Context())
	require.NoError(t, err)
	return value, requests
}

// request is what both sides must send alike.
type request struct {
	method, url string
	header      http.Header
	body        any
}

// stripped leaves out what must differ: the User-Agent, times and signatures. Requests of the same kind that were sent
// at once are one.
func stripped(all []sent) (requests []request) {
	for _, s := range all {
		header := http.Header{}
		for name, values := range s.header {
			header[http.CanonicalHeaderKey(name)] = values
		}
		header.Del("User-Agent")
		header.Del("Content-Length")
		var body map[string]any
		if len(s.body) > 0 && json.Unmarshal(s.body, &body) != nil {
			body = map[string]any{"unreadable": string(s.body)}
		}
		for _, name := range []string{"signature", "requestExpiry"} {
			if _, there := body[name]; there {
				body[name] = "differs"
			}
		}
		next := request{s.method, s.url, header, body}
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
	case *dapi.Payout, *dapi.TransactionPage, *handRefusal:
		return v
	case dapi.Transaction:
		return &v
	case *handPayout:
		return reread(t, v, new(dapi.Payout))
	case *handPage:
		return reread(t, v, new(dapi.TransactionPage))
	case handTransaction:
		return reread(t, v, new(dapi.Transaction))
	case tally:
		return []any{v.entries, neutral(t, v.last)}
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

func likeHand(r errors.Refusal, blockers []errors.Blocker) *handRefusal {
	same := &handRefusal{Status: r.Status, Code: string(r.Code), Message: r.Message, RequestID: r.RequestID,
		RetryAfter: r.RetryAfter}
	for _, b := range blockers {
		same.Blockers = append(same.Blockers, handBlocker{Code: b.Code, Message: b.Message, Field: b.Field})
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
	return string(text)
}

// TestPeersAndHandWrittenClientDoTheSame checks that the SDKs of other services send the same request as the client
// written by hand, and read at least the texts and numbers that it reads. Their responses are as long as the SDK's.
func TestPeersAndHandWrittenClientDoTheSame(t *testing.T) {
	for _, p := range peers() {
		assert.Len(t, p.one, len(payout(plain)), p.id)
		assert.InDelta(t, len(ledgerPage(plain, 0, "1")), len(p.page), pageLength, p.id)
	}
	for _, r := range peerRows() {
		t.Run(r.name, func(t *testing.T) {
			want, byHand := once(t, r, false)
			got, bySDK := once(t, r, true)
			require.Len(t, byHand, 1)
			require.Len(t, bySDK, 1)
			assert.Equal(t, byHand[0].method+byHand[0].url, bySDK[0].method+bySDK[0].url)
			switch v := want.(type) {
			case *handRefusal:
				want = []string{v.Code, v.Message}
			case *hcloudPage: // the SDK leaves out how many pages there are
				want = v.SSHKeys
			}
			facts := factsIn(reflect.ValueOf(want))
			assert.NotEmpty(t, facts)
			assert.Subset(t, factsIn(reflect.ValueOf(got)), facts)
			if strings.HasSuffix(r.name, "/page") {
				assert.Greater(t, len(slices.Compact(slices.Sorted(slices.Values(facts)))), pageLength)
			}
		})
	}
}

// factsIn returns all texts and numbers in a value that are not empty.
func factsIn(v reflect.Value) (facts []string) {
	switch v.Kind() {
	case reflect.String, reflect.Int, reflect.Int64:
		if !v.IsZero() {
			facts = append(facts, fmt.Sprint(v))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*http.Response]() && v.Type() != reflect.TypeFor[*http.Request]() {
			facts = factsIn(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			facts = append(facts, factsIn(v.Index(i))...)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			facts = append(facts, factsIn(v.MapIndex(key))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				facts = append(facts, factsIn(v.Field(i))...)
			}
		}
	}
	return facts
}
