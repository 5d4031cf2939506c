package contrary_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/openapi"
	"github.com/moneymovement/moneymovement-go/recorded"
)

var descriptions = sync.OnceValues(func() (*wire.Description, error) { return wire.Read(openapi.Files) })

// describe is the description, which is read once.
func describe(t *testing.T) *wire.Description {
	t.Helper()
	d, err := descriptions()
	require.NoError(t, err)
	return d
}

func TestEveryOperationIsCalled(t *testing.T) {
	d := describe(t)
	for _, o := range d.Operations {
		t.Run(o.Name(), func(t *testing.T) {
			made := callOf(o)
			require.NotNil(t, made)
			c := newCall(t, o, sampleService{description: d})
			c.ask(nil)
			value, err := made(c)
			require.NoError(t, err)
			assertAllRead(t, c, value)
		})
	}
}

// assertAllRead: the value has every member of the answer.
func assertAllRead(t *testing.T, c *call, value any) {
	t.Helper()
	if isLogin(c.operation) || len(c.answer.Body) == 0 || c.operation.ID == "RenderInvoicePDF" {
		return
	}
	whole, err := decode(c.answer.Body)
	require.NoError(t, err)
	got := tree(t, value)
	if name, part := shownPart(whole, got); part {
		whole = member(whole, name)
	}
	assert.Empty(t, joined(differences(filled(whole), got, nil)), "%s\n%s", c.answer.Body, encode(got))
}

// unreadPart is one entry of Response.Unread.
type unreadPart struct {
	at      pointer
	stated  bool
	problem string
}

// unread is what an answer says could not be read.
func unread(answer moneymovement.Response) (parts []unreadPart) {
	for _, entry := range answer.Unread {
		parts = append(parts, unreadPart{readPointer(entry.Pointer), entry.Stated, entry.Problem})
	}
	return parts
}

// The responses for users' fakes are read to the end by the SDK. A confirm is compared with what was asked, so its
// response is read alone.
func TestEachRecordedResponseIsRead(t *testing.T) {
	alone := map[string]any{"ConfirmPayout": &dapi.Payout{}, "ConfirmEscrowAction": &dapi.Escrow{}}
	d := describe(t)
	name := func(o *wire.Operation) string { return strings.Replace(o.Name(), " ", ".", 1) }
	for _, o := range d.Operations {
		t.Run(o.Name(), func(t *testing.T) {
			c := newCall(t, o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				response, err := recorded.Response(name(d.Find(r.Method, r.URL.Path)), time.Now())
				if !assert.NoError(t, err) {
					return
				}
				defer response.Body.Close()
				maps.Copy(w.Header(), response.Header)
				w.WriteHeader(response.StatusCode)
				_, _ = io.Copy(w, response.Body)
			}))
			c.shared = true
			c.ask(nil)
			value, is := alone[o.ID]
			var err error
			if is {
				c.answer.Body, err = recorded.Body(name(o), time.Now())
				require.NoError(t, err)
				err = json.Unmarshal(c.answer.Body, value)
			} else {
				value, err = callOf(o)(c)
			}
			require.NoError(t, err)
			assertAllRead(t, c, value)
		})
	}
}
