package payments_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// silent lets a number of requests to a path wait until their context ends. A client without a timeout of its own then
// waits for ever.
type silent struct {
	next http.RoundTripper
	path string
	left int
}

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == s.path && s.left > 0 {
		s.left--
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return s.next.RoundTrip(r)
}

// A step ends, also if the service is silent for ever. The payment is then tried again.
func TestASilentServiceDoesNotHoldAPaymentForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		host := &silent{next: w.Wire, path: "/dapi/v1/payouts", left: 1}
		platform := w.platform(moneymovement.WithHTTPClient(&http.Client{Transport: host}))
		p, err := payments.New(w.store, payments.Integrator(platform), payments.Config{})
		require.NoError(t, err)
		_, err = p.Resume(t.Context())
		require.NoError(t, err)
		began := time.Now()
		_, err = p.Submit(t.Context(), w.payment(1))
		require.NoError(t, err)
		done, err := p.Await(t.Context(), w.payment(1).Key)
		require.NoError(t, err)
		assert.Equal(t, moneymovement.PaymentCompleted, done.State)
		assert.Equal(t, 2, done.Calls)
		assert.InDelta(t, (5 * time.Minute).Seconds(), time.Since(began).Seconds(), 10)
		require.NoError(t, p.Stop(t.Context()))
	})
}
