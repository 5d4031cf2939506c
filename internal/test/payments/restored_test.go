package payments_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// backup returns a copy of the store as it is now.
func (w *world) backup() payments.Store {
	w.Helper()
	records, err := w.store.List(w.Context(), payments.List{Limit: 1_000})
	require.NoError(w, err)
	copied := payments.NewMemoryStore()
	for _, record := range records {
		_, _, err := copied.Insert(w.Context(), record)
		require.NoError(w, err)
	}
	return copied
}

// settled lets a new process go on with a payment until it is completed. A person retries it if it needs a decision.
func (w *world) settled(k kind, key moneymovement.Key) payments.Record {
	w.Helper()
	k.services = w.services()
	p := w.process(k, w.store, rarely)
	_, err := p.Resume(w.Context())
	require.NoError(w, err)
	r, err := p.Await(w.Context(), key)
	require.NoError(w, err)
	if r.State == moneymovement.PaymentNeedsDecision {
		w.decide(p, key, payments.Retry())
	}
	r = w.becomes(p, key, moneymovement.PaymentCompleted)
	require.NoError(w, p.Stop(w.Context()))
	return r
}

// An older copy of the store does not know that a payment was made since, and the service has forgotten the key: the
// payment is looked for before its key is used anew.
func TestARestoredStorePaysNothingAgain(t *testing.T) {
	for name, at := range map[string]struct {
		begun bool
		later time.Duration
	}{
		"accepted": {false, week + 3*time.Hour}, "refused": {true, week + 3*time.Hour},
		"accepted, and keys are lost": {false, time.Hour}, "refused, and keys are lost": {true, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			eachKind(t, func(w *world, k kind) {
				before := len(w.Moved(k.moves))
				p := w.process(k, w.store)
				r := w.submit(p, k.submission)
				if at.begun {
					refused := w.Host.Arm(http.MethodPost, k.path,
						sandbox.Respond(http.StatusMethodNotAllowed, "method_not_allowed").Times(1_000))
					var err error
					r, err = p.Step(w.Context(), r.Key)
					require.NoError(w, err)
					require.False(w, r.MayHaveLeft, "%s %+v", r.State, r.Reason)
					require.False(w, r.State.Final(), "%s %+v", r.State, r.Reason)
					refused.Disarm()
				}
				copied := w.backup()
				paid := w.settled(k, r.Key)
				w.assertMoved(k, before+1)

				time.Sleep(at.later)
				if at.later < week {
					w.Host.ForgetKeys()
				}
				w.store = copied
				again := w.settled(k, r.Key)
				w.assertMoved(k, before+1)
				assert.Equal(w, paid.PayoutID, again.PayoutID)
				assert.Equal(w, paid.EscrowID, again.EscrowID)
			})
		})
	}
}

// A payment that the copy does not have is submitted again, with the time of its first submission.
func TestARestoredStoreWithoutThePayment(t *testing.T) {
	eachKind(t, func(w *world, k kind) {
		before := len(w.Moved(k.moves))
		r := w.submit(w.process(k, w.store), k.submission)
		w.settled(k, r.Key)
		time.Sleep(time.Hour)
		w.Host.ForgetKeys()
		w.store = payments.NewMemoryStore()
		w.submit(w.process(k, w.store), changed(k.submission, time.Time{}, r.AcceptedAt))
		w.settled(k, r.Key)
		w.assertMoved(k, before+1)
	})
}

// If the deadline has passed meanwhile, what was paid is not refused.
func TestARestoredStoreRefusesNothingThatIsPaid(t *testing.T) {
	eachKind(t, func(w *world, k kind) {
		before := len(w.Moved(k.moves))
		k.submission = changed(k.submission, time.Now().Add(2*time.Hour), time.Time{})
		r := w.submit(w.process(k, w.store), k.submission)
		copied := w.backup()
		w.settled(k, r.Key)
		w.assertMoved(k, before+1)
		time.Sleep(12 * time.Hour)
		w.store = copied
		w.settled(k, r.Key)
		w.assertMoved(k, before+1)
	})
}

// Another payment of the same amount is not taken for the one that is looked for.
func TestARestoredStoreKnowsItsOwnPayments(t *testing.T) {
	for _, name := range []string{"payout", "deal"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				k := w.kinds()[name]()
				r := w.submit(w.process(k, w.store), k.submission)
				other := w.payment(1)
				other.Key = "another"
				k.submission = other
				if name == "deal" {
					k.submission = payments.EscrowPayment{Key: "another", Account: w.account, Escrow: deal()}
				}
				store := w.store
				w.store = payments.NewMemoryStore()
				w.submit(w.process(k, w.store), k.submission)
				first := w.settled(k, "another")
				w.assertMoved(k, 1)
				w.store = store
				time.Sleep(time.Hour)
				second := w.settled(k, r.Key)
				w.assertMoved(k, 2)
				assert.NotEqual(w, [2]string{string(first.PayoutID), string(first.EscrowID)},
					[2]string{string(second.PayoutID), string(second.EscrowID)})
			})
		})
	}
}

// changed returns a submission with a deadline and a first use.
func changed(submission payments.Submission, deadline, used time.Time) payments.Submission {
	switch s := submission.(type) {
	case payments.Payment:
		s.Deadline, s.FirstUsed = deadline, used
		return s
	case payments.EscrowPayment:
		s.Deadline, s.FirstUsed = deadline, used
		return s
	case payments.EscrowAction:
		s.Deadline, s.FirstUsed = deadline, used
		return s
	case payments.TransferPayment:
		s.Deadline, s.FirstUsed = deadline, used
		return s
	}
	return submission
}

// A payment that nobody made is made, also by a store that was restored, but not while nothing can be read.
func TestARestoredStorePaysWhatWasNotPaid(t *testing.T) {
	eachKind(t, func(w *world, k kind) {
		before := len(w.Moved(k.moves))
		r := w.submit(w.process(k, w.store), k.submission)
		time.Sleep(week + 3*time.Hour)
		unread := []*sandbox.ArmedFault{
			w.Host.Arm(http.MethodGet, "/**", sandbox.DropBefore().Times(1_000)),
			w.Host.Arm(http.MethodPost, "/escrow/{escrowId}/sync", sandbox.DropBefore().Times(1_000)),
		}
		writes := len(w.writes())
		k.services = w.services()
		p := w.process(k, w.store, rarely)
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		time.Sleep(time.Hour)
		waiting, err := p.Get(w.Context(), r.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentAccepted, waiting.State, "%+v", waiting.Reason)
		assert.Len(w, w.writes(), writes)
		for _, fault := range unread {
			fault.Disarm()
		}
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		w.assertMoved(k, before+1)
		require.NoError(w, p.Stop(w.Context()))
	})
}
