package dapi_test

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// A machine whose clock is off by minutes logs in and pays by the service's clock.
func TestPaysWithAClockThatIsOff(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": 20 * time.Minute, "behind": -20 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sandbox.WithClock(func() time.Time { return time.Now().Add(-off) }))
				account := w.account()
				_, err := account.Payouts.Pay(t.Context(), dapi.PayoutCreate{
					ContactID: w.contact(account, sepa()), Amount: amount("25"), Currency: dapi.USDC,
				}, "invoice-42")
				require.NoError(t, err)
			})
		})
	}
}

// A session that the host does not know any more, as after its restart, is minted anew.
func TestSessionThatTheHostForgotIsMintedAnew(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	require.NoError(t, read(t.Context(), account))
	w.host.Reset()
	require.NoError(t, read(t.Context(), account))
}

// The host's own clock may have been moved far ahead, by a test: logins still work, over a real socket as well.
func TestLoginAfterTheHostsClockWasMoved(t *testing.T) {
	w := newWorld(t)
	w.host.Advance(3 * time.Hour)
	server := httptest.NewServer(w.host)
	t.Cleanup(server.Close)
	integrator, err := dapi.NewWhitelabel(server.URL, w.developer())
	require.NoError(t, err)
	require.NoError(t, read(t.Context(), integrator.Self()))
}
