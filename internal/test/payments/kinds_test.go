package payments_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// kind is a payment of each kind, and what moves its money in the host's books.
type kind struct {
	submission payments.Submission
	services   payments.Services
	moves      string
	path       string // of the request that pays
}

func (w *world) kinds() map[string]func() kind {
	return map[string]func() kind{
		"payout": func() kind {
			return kind{w.payment(1), payments.Integrator(w.platform()), "payout_funding", confirmPath}
		},
		"deal": func() kind {
			return kind{payments.EscrowPayment{Key: "deal-1", Account: w.account, Escrow: deal()},
				payments.Integrator(w.platform()), "escrow_active", "/escrow/{escrowId}/actions/{actionKey}/confirm"}
		},
		"release": func() kind {
			platform := w.platform()
			opened, err := platform.For(w.account).Escrows.Open(w.Context(), deal(), "deal-0", dapi.DealTerms{})
			require.NoError(w, err)
			return kind{payments.EscrowAction{Key: "release-1", Account: w.account, EscrowID: opened.Escrow.ID, Escrow: deal(),
				Action: dapi.EscrowActionTypeRelease}, payments.Integrator(platform), "escrow_released",
				"/escrow/{escrowId}/actions/{actionKey}/confirm"}
		},
		"transfer": func() kind {
			app, contact := w.app()
			return kind{payments.TransferPayment{Key: "transfer-1", To: appapi.ToContact{ContactID: contact,
				Amount: amount("12.5")}}, payments.Services{}.WithTransfers(app), "transfer", "/apps/transfer"}
		},
	}
}

func eachKind(t *testing.T, test func(w *world, k kind)) {
	eachOf(t, test, append(flows, "transfer")...)
}

// flows are the kinds that are journaled between their booking and their signature. A transfer pays in one call.
var flows = []string{"payout", "deal", "release"}

func eachOf(t *testing.T, test func(w *world, k kind), names ...string) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) { test(w, w.kinds()[name]()) })
		})
	}
}

func (w *world) process(k kind, store payments.Store, change ...func(*payments.Config)) *payments.Processor {
	w.Helper()
	var config payments.Config
	for _, c := range change {
		c(&config)
	}
	p, err := payments.New(store, k.services, config)
	require.NoError(w, err)
	return p
}

// assertMoved checks that the money of a payment moved so often.
func (w *world) assertMoved(k kind, times int) {
	w.Helper()
	total := 0
	for _, n := range w.Moved(k.moves) {
		total += n
	}
	if k.moves == "escrow_active" && total > 0 {
		total = len(w.Moved(k.moves))
	}
	assert.Equal(w, times, total, "%v", w.Moved(k.moves))
}

// doubted brings a payment into doubt: the request that pays and all that look for the payment meet these faults. It
// returns when the service can be reached again.
func (w *world) doubted(k kind, lost, unread sandbox.Fault) (*payments.Processor, payments.Record) {
	w.Helper()
	const all = 1_000
	faults := []*sandbox.ArmedFault{
		w.Host.Arm(http.MethodPost, k.path, lost.Times(all)),
		w.Host.Arm(http.MethodGet, "/**", unread.Times(all)),
		w.Host.Arm(http.MethodPost, "/escrow/{escrowId}/sync", unread.Times(all)),
	}
	p := w.process(k, w.store)
	r, err := p.Step(w.Context(), w.submit(p, k.submission).Key)
	require.NoError(w, err)
	require.Equal(w, moneymovement.PaymentInDoubt, r.State, "%+v", r.Reason)
	assert.Positive(w, faults[0].Consumed())
	for _, f := range faults {
		f.Disarm()
	}
	return p, r
}

func TestEachKindIsPaidOnce(t *testing.T) {
	eachKind(t, func(w *world, k kind) {
		before := len(w.Moved(k.moves))
		p := w.process(k, w.store)
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		r := w.submit(p, k.submission)
		done := w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		assert.True(w, done.MayHaveLeft)
		assert.Equal(w, 1, done.Calls)
		w.assertMoved(k, before+1)
		require.NoError(w, p.Stop(w.Context()))
	})
}

func TestEachKindWithLostResponses(t *testing.T) {
	for name, fault := range map[string]sandbox.Fault{
		"before": sandbox.DropBefore(), "after": sandbox.DropAfterCommit(), "a page": sandbox.Garbage().AfterCommit(),
	} {
		t.Run(name, func(t *testing.T) {
			eachKind(t, func(w *world, k kind) {
				before := len(w.Moved(k.moves))
				armed := w.Host.Arm(http.MethodPost, k.path, fault.Times(13))
				p := w.process(k, w.store)
				_, err := p.Resume(w.Context())
				require.NoError(w, err)
				r := w.submit(p, k.submission)
				if r.Kind == payments.KindTransfer && name == "before" { // nothing lists it, so a person decides
					w.becomes(p, r.Key, moneymovement.PaymentNeedsDecision)
					armed.Disarm()
					w.decide(p, r.Key, payments.Retry())
				}
				w.becomes(p, r.Key, moneymovement.PaymentCompleted)
				w.assertMoved(k, before+1)
				assert.Positive(w, armed.Consumed())
				require.NoError(w, p.Stop(w.Context()))
			})
		})
	}
}

// A proxy's page in place of a response does not show what the service did, whatever its status. The payment is in
// doubt, and nobody can cancel it.
func TestEachKindWithAPageInPlaceOfAResponse(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound, http.StatusUnauthorized} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			eachKind(t, func(w *world, k kind) {
				before := len(w.Moved(k.moves))
				page := sandbox.Respond(status, "").WithBody("<html>No.</html>").WithHeader("Content-Type", "text/html")
				p, r := w.doubted(k, page.AfterCommit(), page)
				assert.True(w, r.MayHaveLeft)
				_, err := p.Resume(w.Context())
				require.NoError(w, err)
				w.becomes(p, r.Key, moneymovement.PaymentCompleted)
				w.assertMoved(k, before+1)
				require.NoError(w, p.Stop(w.Context()))
			})
		})
	}
}

// The confirm is lost in every call until the key is too old: then the deal, the payout or the list of transfers shows
// the payment.
func TestEachKindIsFoundWhenItsKeyIsTooOld(t *testing.T) {
	eachKind(t, func(w *world, k kind) {
		before := len(w.Moved(k.moves))
		p, r := w.doubted(k, sandbox.DropAfterCommit(), sandbox.DropBefore())
		time.Sleep(week + time.Hour)
		writes := len(w.writes())
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		assert.Len(w, w.writes(), writes, "writes for a payment whose key is too old")
		w.assertMoved(k, before+1)
		require.NoError(w, p.Stop(w.Context()))
	})
}

// The confirm of a deal is lost until the deal can no longer be approved. The deal itself then shows that its money was
// never held.
func TestADealInDoubtWhoseWindowHasClosed(t *testing.T) {
	inBubble(t, func(w *world) {
		k := w.kinds()["deal"]()
		p, r := w.doubted(k, sandbox.DropBefore(), sandbox.DropBefore())
		time.Sleep(2 * time.Hour) // the deal could be approved for one
		ended, err := p.Step(w.Context(), r.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentRefused, ended.State, "%+v", ended.Reason)
		assert.Equal(w, payments.ReasonEnded, ended.Reason.Code)
		assert.False(w, ended.MayHaveLeft)
		w.assertMoved(k, 0)
	})
}

// A payment in doubt is looked for after a refused call. If the look is told to come back later, the next call and its
// look wait for that.
func TestALookThatIsToldToComeBackLater(t *testing.T) {
	forbidden := sandbox.Respond(http.StatusForbidden, "forbidden")
	empty := sandbox.Respond(http.StatusOK, "").WithBody("{}").AfterCommit()
	confirm, sync := "/escrow/{escrowId}/actions/{actionKey}/confirm", "/escrow/{escrowId}/sync"
	for name, at := range map[string]struct {
		kind, write  string
		fault        sandbox.Fault
		method, look string
	}{
		"release":          {"release", "/escrow/{escrowId}/actions", forbidden, http.MethodPost, sync},
		"release, confirm": {"release", confirm, sandbox.DropBefore().Times(4), http.MethodPost, sync},
		"deal, confirm":    {"deal", confirm, sandbox.DropBefore().Times(4), http.MethodPost, sync},
		"deal, empty":      {"deal", confirm, empty, http.MethodPost, sync},
		"transfer":         {"transfer", "/apps/transfer", forbidden, http.MethodGet, "/apps/transfers"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				k := w.kinds()[at.kind]()
				before := len(w.Moved(k.moves))
				lost := sandbox.DropBefore()
				if at.kind == "transfer" { // one that did not arrive needs a decision
					lost = sandbox.DropAfterCommit()
				}
				p, r := w.doubted(k, lost, sandbox.DropBefore())
				time.Sleep(time.Until(r.Due))
				w.Host.Arm(http.MethodPost, at.write, at.fault)
				w.Host.Arm(at.method, at.look,
					sandbox.Respond(http.StatusTooManyRequests, "rate_limited").WithHeader("Retry-After", "300"))
				r, err := p.Step(w.Context(), r.Key)
				require.NoError(w, err)
				require.Equal(w, moneymovement.PaymentInDoubt, r.State, "%+v", r.Reason)
				assert.GreaterOrEqual(w, time.Until(r.Due), 299*time.Second)
				_, err = p.Resume(w.Context())
				require.NoError(w, err)
				w.becomes(p, r.Key, moneymovement.PaymentCompleted)
				w.assertMoved(k, before+1)
				require.NoError(w, p.Stop(w.Context()))
			})
		})
	}
}

// writes are the requests that can move money.
func (w *world) writes() (writes []string) {
	for _, r := range w.Host.Requests() {
		switch r.Operation {
		case "BookPayout", "ConfirmPayout", "CreateEscrow", "PrepareEscrowAction", "ConfirmEscrowAction",
			"CreateTransfer":
			writes = append(writes, r.Operation)
		}
	}
	return writes
}
