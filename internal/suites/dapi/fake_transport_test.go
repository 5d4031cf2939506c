package dapi_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// handled is the transport that many programs write for their tests: it gives the client's request to a handler.
type handled struct{ http.Handler }

func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// A fake that gives the client's own request to a handler finds the idempotency key there, and payments work.
func TestAHandlerInPlaceOfASocket(t *testing.T) {
	w := newPayWorld(t)
	var keys []string
	recorded := http.HandlerFunc(func(writer http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("Idempotency-Key"); key != "" {
			keys = append(keys, key)
		}
		w.Host.ServeHTTP(writer, r)
	})
	integrator, err := dapi.NewIntegrator(w.URL, w.Developer(),
		moneymovement.WithHTTPClient(&http.Client{Transport: handled{recorded}}))
	require.NoError(t, err)
	payment, err := integrator.Self().Payouts.Pay(w.Context(), w.asked, "invoice-42", dapi.PayTerms{})
	require.NoError(t, err)
	assert.Equal(t, moneymovement.PaymentPaid, payment.State)
	assert.Equal(t, []string{"invoice-42"}, keys[:1])
}
