package contrary_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/recorded"
)

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
