package payments_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// release is the release of an escrow.
func (w *world) release(terms dapi.EscrowCreate, escrow *dapi.Escrow) payments.EscrowAction {
	return payments.EscrowAction{Key: "release-1", Account: w.account, EscrowID: escrow.ID, Escrow: terms,
		Action: dapi.EscrowActionTypeRelease}
}

// A release before the money is held is unpaid, because nothing was signed. It waits, and can be canceled.
func TestAnActionThatAnEscrowDoesNotOfferYet(t *testing.T) {
	inBubble(t, func(w *world) {
		escrows := w.platform().For(w.account).Escrows
		created, err := escrows.Create(w.Context(), newEscrow())
		require.NoError(w, err)
		p := w.started()
		asked := w.release(newEscrow(), created)
		w.submit(p, asked)
		time.Sleep(10 * time.Minute)
		r, err := p.Get(w.Context(), asked.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentAccepted, r.State)
		assert.False(w, r.MayHaveLeft)
		early := w.release(newEscrow(), created)
		early.Key = "release-2"
		w.submit(p, early)
		time.Sleep(time.Second)
		assert.Equal(w, moneymovement.PaymentRefused, w.decide(p, early.Key, payments.Cancel("too early")).State)

		_, err = escrows.Act(w.Context(), newEscrow(), created.ID, dapi.EscrowActionTypeApprove, "approve-1",
			dapi.EscrowTerms{})
		require.NoError(w, err)
		w.becomes(p, asked.Key, moneymovement.PaymentCompleted)
		assert.Len(w, w.Moved("escrow_released"), 1)
	})
}

// An escrow that an earlier program may have opened, and which the service refuses to create for good: a person can
// decide, and need not wait for the end of the key. Other refusals pass.
func TestAnEscrowInDoubtThatNoCallCanOpen(t *testing.T) {
	for slug, c := range map[string]struct {
		status int
		want   moneymovement.PaymentState
	}{
		"validation_failed": {http.StatusUnprocessableEntity, moneymovement.PaymentNeedsDecision},
		"not_found":         {http.StatusNotFound, moneymovement.PaymentNeedsDecision},
		"rate_limited":      {http.StatusTooManyRequests, moneymovement.PaymentInDoubt},
	} {
		t.Run(slug, func(t *testing.T) {
			inBubble(t, func(w *world) {
				refused := w.Host.Arm(http.MethodPost, "/escrow", sandbox.Respond(c.status, slug).Times(1_000))
				p := w.started()
				w.submit(p, payments.EscrowPayment{Key: "escrow-1", Account: w.account, Escrow: newEscrow(),
					FirstUsed: time.Now()})
				time.Sleep(time.Hour)
				r, err := p.Get(w.Context(), "escrow-1")
				require.NoError(w, err)
				assert.Equal(w, c.want, r.State)
				assert.True(w, r.MayHaveLeft)
				assert.NotContains(w, r.Reason.Message, "Journal", "the processor journals")
				refused.Disarm()
				if r.State == moneymovement.PaymentNeedsDecision {
					w.decide(p, "escrow-1", payments.Retry())
				}
				w.becomes(p, "escrow-1", moneymovement.PaymentCompleted)
				assert.Len(w, w.Moved("escrow_active"), 1)
			})
		})
	}
}

// A release that the escrow does not offer any more is over, as the escrow shows at once. A release that is refused for
// another reason is not read by the processor: only the confirm was refused.
func TestWhenAnEscrowIsReadAfterAnAction(t *testing.T) {
	for name, c := range map[string]struct {
		refunded bool
		state    moneymovement.PaymentState
		reads    int
	}{
		"the escrow was refunded": {true, moneymovement.PaymentRefused, 1},
		"the confirm was refused": {false, moneymovement.PaymentNeedsDecision, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				terms := newEscrow()
				terms.HoldFor = "1h"
				escrows := w.platform().For(w.account).Escrows
				opened, err := escrows.Open(w.Context(), terms, "escrow-0", dapi.EscrowTerms{})
				require.NoError(w, err)
				time.Sleep(time.Minute)
				if c.refunded {
					time.Sleep(2 * time.Hour) // past the time in which it can be released
					_, err = escrows.Act(w.Context(), terms, opened.Escrow.ID, dapi.EscrowActionTypeRefund, "refund-1",
						dapi.EscrowTerms{})
					require.NoError(w, err)
				} else {
					w.Host.Arm(http.MethodPost, w.kinds()["escrow"]().path,
						sandbox.Respond(http.StatusForbidden, "signing_policy_refused"))
				}
				p, reads := w.processor(), w.Sent("SyncEscrow")
				w.submit(p, w.release(terms, opened.Escrow))
				r, err := p.Step(w.Context(), "release-1")
				require.NoError(w, err)
				assert.Equal(w, c.state, r.State)
				assert.GreaterOrEqual(w, w.Sent("SyncEscrow")-reads, c.reads)
				if c.reads == 0 {
					assert.Equal(w, reads, w.Sent("SyncEscrow"))
				}
			})
		})
	}
}

// absent is a contact that is not there.
const absent = "0190a3c4-7b1e-7c3d-9a55-0c2f1f5f0a11"

// transfers returns a processor for transfers, which is not resumed.
func (w *world) transfers(app *appapi.Client) *payments.Processor {
	w.Helper()
	p, err := payments.New(w.store, payments.Services{}.WithTransfers(app), payments.Config{})
	require.NoError(w, err)
	w.Cleanup(func() { require.NoError(w, p.Stop(context.Background())) })
	return p
}

// An earlier program has paid something else with the key. The list of transfers has a transfer with the key, and it is
// not this one.
func TestATransferWhoseKeyBelongsToAnother(t *testing.T) {
	for name, change := range map[string]func(to *appapi.ToContact, other string){
		"another amount":  func(to *appapi.ToContact, _ string) { to.Amount = amount("500") },
		"another contact": func(to *appapi.ToContact, other string) { to.ContactID = other },
	} {
		for age, step := range map[time.Duration]string{0: "pay", 8 * 24 * time.Hour: "search"} {
			t.Run(name+", "+step, func(t *testing.T) {
				inBubble(t, func(w *world) {
					app, contact := w.app()
					to, used := appapi.ToContact{ContactID: contact, Amount: amount("1")}, time.Now()
					_, err := app.Transfers.Send(w.Context(), to, "transfer-1")
					require.NoError(w, err)
					change(&to, absent)
					time.Sleep(age)
					p := w.transfers(app)
					w.submit(p, payments.TransferPayment{Key: "transfer-1", To: to, FirstUsed: used})
					r, err := p.Step(w.Context(), "transfer-1")
					require.NoError(w, err)
					assert.Equal(w, moneymovement.PaymentNeedsDecision, r.State)
					assert.Equal(w, payments.ReasonKeyReused, r.Reason.Code)
					assert.NotEmpty(w, r.Reason.Owner)
					assert.Empty(w, r.TransactionHash)
					r = w.decide(p, "transfer-1", payments.WasNotPaid("another transfer has the key"))
					assert.Equal(w, moneymovement.PaymentRefused, r.State)
					assert.Len(w, w.Moved("transfer"), 1)
				})
			})
		}
	}
}

// A transfer of a quote that has ended: the same call is never made, however often it is repeated.
func TestATransferOfAQuoteThatHasEnded(t *testing.T) {
	inBubble(t, func(w *world) {
		app, contact := w.app()
		quote, err := app.Quotes.Payout(w.Context(), appapi.BalancePayoutQuote{ContactID: contact, Amount: amount("3")})
		require.NoError(w, err)
		time.Sleep(10 * time.Minute)
		p := w.transfers(app)
		w.submit(p, payments.TransferPayment{Key: "quote-1", To: appapi.ToQuote{QuoteID: quote.QuoteID}})
		r, err := p.Step(w.Context(), "quote-1")
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentRefused, r.State)
		assert.Equal(w, errors.CodeQuoteExpired, r.Reason.Slug)
		assert.False(w, r.MayHaveLeft)
	})
}

// A deadline passes in a process that has no app API, and cannot read whether the payment was made. Another one can.
func TestADeadlineWaitsForARead(t *testing.T) {
	inBubble(t, func(w *world) {
		late := payments.TransferPayment{Key: "late-1", To: appapi.ToContact{ContactID: absent, Amount: amount("1")},
			Deadline: time.Now().Add(time.Minute)}
		record, err := payments.Prepare(late, time.Now())
		require.NoError(w, err)
		_, _, err = w.store.Insert(w.Context(), record)
		require.NoError(w, err)
		p := w.started()
		time.Sleep(time.Hour)
		r, err := p.Get(w.Context(), late.Key)
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentAccepted, r.State)
		require.NoError(w, p.Stop(w.Context()))
		app, _ := w.app()
		p = w.transfers(app)
		_, err = p.Resume(w.Context())
		require.NoError(w, err)
		r = w.becomes(p, late.Key, moneymovement.PaymentRefused)
		require.NoError(w, p.Stop(w.Context()))
		assert.Equal(w, payments.ReasonDeadline, r.Reason.Code)
	})
}

// A transfer of a quote never arrived, and the price has ended meanwhile: the transfer is impossible, and a person can
// decide before the key expires.
func TestATransferInDoubtThatNoCallCanMake(t *testing.T) {
	inBubble(t, func(w *world) {
		app, contact := w.app()
		quote, err := app.Quotes.Payout(w.Context(), appapi.BalancePayoutQuote{ContactID: contact, Amount: amount("3")})
		require.NoError(w, err)
		lost := w.Host.Arm(http.MethodPost, "/apps/transfer", sandbox.DropBefore().Times(1_000))
		p := w.transfers(app)
		w.submit(p, payments.TransferPayment{Key: "quote-1", To: appapi.ToQuote{QuoteID: quote.QuoteID}})
		r, err := p.Step(w.Context(), "quote-1")
		require.NoError(w, err)
		require.Equal(w, moneymovement.PaymentInDoubt, r.State)
		time.Sleep(10 * time.Minute)
		lost.Disarm()
		unread := w.Host.Arm(http.MethodGet, "/apps/transfers", sandbox.DropBefore().Times(1_000))
		r, err = p.Step(w.Context(), "quote-1")
		require.NoError(w, err)
		require.Equal(w, moneymovement.PaymentInDoubt, r.State, "the list was not read")
		unread.Disarm()
		_, err = p.Resume(w.Context())
		require.NoError(w, err)
		time.Sleep(time.Hour)
		r, err = p.Get(w.Context(), "quote-1")
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentNeedsDecision, r.State)
		assert.True(w, r.MayHaveLeft)
		w.decide(p, "quote-1", payments.WasNotPaid("its price has ended"))
		assert.Empty(w, w.Moved("transfer"))
	})
}

// The receipt of a transfer has its transaction, which is stored.
func TestTheTransactionOfATransferIsStored(t *testing.T) {
	inBubble(t, func(w *world) {
		app, contact := w.app()
		p := w.transfers(app)
		w.submit(p, payments.TransferPayment{Key: "transfer-1",
			To: appapi.ToContact{ContactID: contact, Amount: amount("1")}})
		r, err := p.Step(w.Context(), "transfer-1")
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentCompleted, r.State)
		sent, listed, err := app.Transfers.ByKey(w.Context(), "transfer-1")
		require.NoError(w, err)
		require.True(w, listed)
		assert.NotEmpty(w, r.TransactionHash)
		assert.Equal(w, sent.TxHash, r.TransactionHash)
	})
}

// A transfer whose response was lost is searched for in the same step.
func TestATransferWhoseResponseWasLostIsListedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fault sandbox.Fault
		state moneymovement.PaymentState
	}{
		"it was made":     {sandbox.DropAfterCommit(), moneymovement.PaymentCompleted},
		"it was not made": {sandbox.DropBefore(), moneymovement.PaymentInDoubt},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				app, contact := w.app()
				p := w.transfers(app)
				w.Host.Arm(http.MethodPost, "/apps/transfer", c.fault.Times(99))
				w.submit(p, payments.TransferPayment{Key: "transfer-1",
					To: appapi.ToContact{ContactID: contact, Amount: amount("1")}})
				r, err := p.Step(w.Context(), "transfer-1")
				require.NoError(w, err)
				assert.Equal(w, c.state, r.State)
				assert.True(w, r.MayHaveLeft)
				assert.Equal(w, c.state == moneymovement.PaymentCompleted, r.Due.IsZero())
			})
		})
	}
}

// A transfer whose response was lost, and which is not listed, can be under way for ten minutes. Then a person must
// decide.
func TestHowLongALostTransferIsWaitedFor(t *testing.T) {
	inBubble(t, func(w *world) {
		app, contact := w.app()
		p := w.transfers(app)
		w.Host.Arm(http.MethodPost, "/apps/transfer", sandbox.DropBefore().Times(99))
		w.submit(p, payments.TransferPayment{Key: "transfer-1",
			To: appapi.ToContact{ContactID: contact, Amount: amount("1")}})
		r, err := p.Step(w.Context(), "transfer-1")
		require.NoError(w, err)
		time.Sleep(time.Until(r.FirstUsed.Add(10 * time.Minute)))
		r, err = p.Step(w.Context(), "transfer-1")
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentInDoubt, r.State)
		time.Sleep(30 * time.Second)
		r, err = p.Step(w.Context(), "transfer-1")
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentNeedsDecision, r.State)
	})
}

// The refusal of a transfer that is sent again says nothing about the first one, whose response was lost. The client of
// the new process knows nothing of that one.
func TestARefusalOfATransferThatIsSentAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		app, contact := w.app()
		p := w.transfers(app)
		lost := w.Host.Arm(http.MethodPost, "/apps/transfer", sandbox.DropBefore().Times(99))
		w.submit(p, payments.TransferPayment{Key: "transfer-1",
			To: appapi.ToContact{ContactID: contact, Amount: amount("1")}})
		_, err := p.Step(w.Context(), "transfer-1")
		require.NoError(w, err)
		time.Sleep(11 * time.Minute)
		r, err := p.Step(w.Context(), "transfer-1")
		require.NoError(w, err)
		require.Equal(w, moneymovement.PaymentNeedsDecision, r.State)
		w.decide(p, "transfer-1", payments.Retry())
		lost.Disarm()
		w.Host.Arm(http.MethodPost, "/apps/transfer", sandbox.Respond(http.StatusConflict, "contact_not_payable"))
		r, err = w.transfers(w.App(w.AppKey())).Step(w.Context(), "transfer-1")
		require.NoError(w, err)
		require.NotNil(w, r.Reason)
		assert.Equal(w, payments.ReasonBlocked, r.Reason.Code, "it was sent again")
		assert.Equal(w, moneymovement.PaymentNeedsDecision, r.State)
		assert.True(w, r.MayHaveLeft)
	})
}

// An escrow that is held has its transaction, which is stored.
func TestTheTransactionOfAnEscrowIsStored(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.processor()
		w.submit(p, payments.EscrowPayment{Key: "escrow-1", Account: w.account, Escrow: newEscrow()})
		r, err := p.Step(w.Context(), "escrow-1")
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentCompleted, r.State)
		held, err := w.platform().For(w.account).Escrows.Sync(w.Context(), r.EscrowID)
		require.NoError(w, err)
		assert.NotEmpty(w, r.TransactionHash)
		assert.Equal(w, held.TransactionHash, r.TransactionHash)
	})
}
