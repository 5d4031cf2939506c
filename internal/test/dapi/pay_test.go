package dapi_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// payWorld is a world in which 25 USDC are paid to a bank contact.
type payWorld struct {
	*world
	account *dapi.Account
	asked   dapi.PayoutCreate
}

const confirmPath, bookPath = "/payouts/*/confirm", "/payouts"

func newPayWorld(t *testing.T, options ...sandbox.Option) *payWorld {
	t.Helper()
	w := newWorld(t, append(options,
		sandbox.WithSettings(func(s *sandbox.Settings) { s.QuoteLifetime = sandbox.Duration(30 * time.Second) }))...)
	account := w.account()
	return &payWorld{world: w, account: account, asked: dapi.PayoutCreate{
		ContactID: w.Contact(account.Contacts, sepa()), Amount: amount("25"), Currency: dapi.USDC,
	}}
}

func (w *payWorld) pay(options ...payOption) (dapi.Payment, error) {
	return w.payAs("invoice-42", options...)
}

func (w *payWorld) payAs(key moneymovement.Key, options ...payOption) (dapi.Payment, error) {
	return w.account.Payouts.Pay(w.Context(), w.asked, key, payTerms(options...))
}

// waitBeforeSigning lets time pass on the host before the first n approvals are signed.
func (w *payWorld) waitBeforeSigning(d time.Duration, n int) {
	w.Key.BeforeApproval(func(approval int) {
		if approval <= n {
			w.Host.Advance(d)
		}
	})
}

func (w *payWorld) worsen(fraction string) {
	w.Configure(func(s *sandbox.Settings) { s.PriceWorsening = amount(fraction) })
}

// refuse makes the host refuse a confirm.
func (w *payWorld) refuse(status int, slug string) *sandbox.ArmedFault {
	return w.Host.Arm("POST", confirmPath, sandbox.Respond(status, slug))
}

// traffic is how often each step of a payment was sent.
type traffic struct{ books, confirms, reads int }

func (w *payWorld) traffic() traffic {
	return traffic{books: w.Sent("BookPayout"), confirms: w.Sent("ConfirmPayout"), reads: w.Sent("GetPayout")}
}

// TestPayEndsInOnePayment holds what Pay settles by itself: each ends in one payment.
// Rule: session.prepare-sign-confirm, lifetime.price, lifetime.payout-approval, idempotency.echo, status.502
func TestPayEndsInOnePayment(t *testing.T) {
	tolerance := func(fraction string) []payOption {
		return []payOption{quoteTolerance(amount(fraction))}
	}
	for name, c := range map[string]struct {
		arrange func(w *payWorld)
		options []payOption
		want    traffic
		reads   bool // of an unstated number, while the host funds
	}{
		"nothing in the way": {want: traffic{1, 1, 0}},

		"already_funded at the confirm": {
			arrange: func(w *payWorld) {
				w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Millisecond) })
				w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit())
			},
			want: traffic{1, 2, 1},
		},
		"funding_in_progress": {
			arrange: func(w *payWorld) {
				w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(10 * time.Second) })
				w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit())
			},
			want: traffic{books: 1, confirms: 2}, reads: true,
		},
		"quote_expired, and the fresh quote is equal": {
			arrange: func(w *payWorld) { w.waitBeforeSigning(31*time.Second, 1) },
			want:    traffic{2, 2, 0},
		},
		"quote_expired, and the fresh quote is better": {
			arrange: func(w *payWorld) {
				w.worsen("0.02")
				w.Key.BeforeApproval(func(n int) {
					if n == 1 {
						w.worsen("0")
						w.Host.Advance(31 * time.Second)
					}
				})
			},
			want: traffic{2, 2, 0},
		},
		"quote_expired, and the fresh quote is worse by less than the tolerance": {
			arrange: func(w *payWorld) {
				w.Key.BeforeApproval(func(n int) {
					if n == 1 {
						w.worsen("0.02")
						w.Host.Advance(31 * time.Second)
					}
				})
			},
			options: tolerance("0.021"),
			want:    traffic{2, 2, 0},
		},
		"quote_expired three times": {
			arrange: func(w *payWorld) { w.waitBeforeSigning(31*time.Second, 3) },
			want:    traffic{4, 4, 0},
		},
		"funding_attempt_expired": {
			arrange: func(w *payWorld) { w.waitBeforeSigning(121*time.Second, 1) },
			want:    traffic{2, 2, 0},
		},
		"approval_expired": {
			arrange: func(w *payWorld) { w.refuse(http.StatusGone, "approval_expired") },
			want:    traffic{2, 2, 0},
		},
		"approval_mismatch, as after a reopening elsewhere": {
			arrange: func(w *payWorld) { w.refuse(http.StatusConflict, "approval_mismatch") },
			want:    traffic{2, 2, 0},
		},
		"approval_consumed, funded": {
			arrange: func(w *payWorld) {
				w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusConflict, "approval_consumed").AfterCommit())
			},
			want: traffic{1, 1, 1},
		},
		"approval_consumed, not funded": {
			arrange: func(w *payWorld) { w.refuse(http.StatusConflict, "approval_consumed") },
			want:    traffic{2, 2, 1},
		},
		"502 once": {
			arrange: func(w *payWorld) { w.refuse(http.StatusBadGateway, "chain_unavailable") },
			want:    traffic{1, 2, 0},
		},
		"502 on a confirm that went through": {
			arrange: func(w *payWorld) {
				w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusBadGateway, "chain_unavailable").
					AfterCommit())
			},
			want: traffic{books: 1, confirms: 2}, reads: true,
		},
		"a proxy's page on the confirm": {
			arrange: func(w *payWorld) { w.Host.Arm("POST", confirmPath, sandbox.Garbage()) },
			want:    traffic{1, 2, 0},
		},
		"confirm never arrived once": {
			arrange: func(w *payWorld) { w.Host.Arm("POST", confirmPath, sandbox.DropBefore()) },
			want:    traffic{1, 2, 0},
		},
		"every response to the confirm lost, funded": {
			arrange: func(w *payWorld) {
				w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit().Times(4))
			},
			want: traffic{1, 4, 1},
		},
		"the booking's response lost": {
			arrange: func(w *payWorld) { w.Host.Arm("POST", bookPath, sandbox.DropAfterCommit()) },
			want:    traffic{2, 1, 0},
		},
		"token_expired at the confirm": {
			arrange: func(w *payWorld) { w.Host.Arm("POST", confirmPath, sandbox.ExpireToken()) },
			want:    traffic{1, 2, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				if c.arrange != nil {
					c.arrange(w)
				}
				payment, err := w.pay(c.options...)
				require.NoError(t, err)
				assert.Contains(t, []dapi.PayoutStatus{dapi.PayoutStatusFunding, dapi.PayoutStatusProcessing,
					dapi.PayoutStatusCompleted}, payment.Payout.Status)
				assert.NotEmpty(t, payment.Payout.TransactionHash)
				assert.Equal(t, "invoice-42", payment.Payout.IdempotencyKey)
				assert.Equal(t, 1, w.Fundings(), "exactly one payment")

				got := w.traffic()
				if c.reads {
					assert.Positive(t, got.reads)
					got.reads = 0
				}
				assert.Equal(t, c.want, got)
				for _, operation := range []string{"BookPayout", "ConfirmPayout"} {
					for _, request := range w.Requests(operation) {
						assert.Equal(t, "invoice-42", request.IdempotencyKey, "every call of a payment carries its key")
					}
				}
			})
		})
	}
}

// Pay returns what it cannot settle by itself, and no money moves.
// Rule: session.recheck-before-co-signing, idempotency.other-terms, contact.blockers
func TestPayReturnsWhatItCannotSettle(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(w *payWorld)
		want    func(t *testing.T, w *payWorld, err error)
		sent    traffic
	}{
		"contact_not_payable": {
			arrange: func(w *payWorld) {
				w.asked.ContactID = w.Contact(w.account.Contacts,
					dapi.SEPA(dapi.BankFields{AccountHolderName: "Eve Roe"}))
			},
			want: func(t *testing.T, _ *payWorld, err error) {
				blocked := as[*errors.ContactNotPayable](t, err)
				assert.Regexp(t, "^ct_", blocked.Resource)
				require.Len(t, blocked.Blockers, 1)
				assert.Equal(t, "iban", blocked.Blockers[0].Field)
			},
			sent: traffic{books: 1},
		},
		"idempotency_key_reused by another process": {
			arrange: func(w *payWorld) {
				other := w.asked
				other.Amount = amount("24")
				_, err := w.integrator().Self().Payouts.Book(w.Context(), other,
					moneymovement.IdempotencyKey("invoice-42"))
				require.NoError(w, err)
			},
			want: func(t *testing.T, _ *payWorld, err error) {
				reused := as[*errors.IdempotencyKeyReused](t, refusalIn(err))
				assert.Regexp(t, "^po_", reused.PayoutID)
				assert.Equal(t, "invoice-42", reused.IdempotencyKey)
			},
			sent: traffic{books: 2},
		},
		"a balance that does not cover it": {
			arrange: func(w *payWorld) { w.asked.Amount = amount("100.01") },
			want: func(t *testing.T, _ *payWorld, err error) {
				assert.Contains(t, string(as[*errors.PayoutNotFundable](t, err).Details), `"available":"100"`)
			},
			sent: traffic{books: 1, confirms: 1, reads: 1},
		},
		"signing_policy_refused": {
			arrange: func(w *payWorld) {
				w.Configure(func(s *sandbox.Settings) { s.SigningPolicy = sandbox.SigningPolicyRefuse })
			},
			want: func(t *testing.T, _ *payWorld, err error) { as[*errors.SigningPolicyRefused](t, err) },
			sent: traffic{books: 1, confirms: 1, reads: 1},
		},
		"quote_expired for good": {
			arrange: func(w *payWorld) { w.waitBeforeSigning(31*time.Second, 100) },
			want: func(t *testing.T, _ *payWorld, err error) {
				assert.Equal(t, "invoice-42", as[*errors.QuoteExpired](t, err).IdempotencyKey)
			},
			sent: traffic{books: 4, confirms: 4, reads: 1},
		},
		"502 for good": {
			arrange: func(w *payWorld) {
				w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusBadGateway, "chain_unavailable").Times(100))
			},
			want: func(t *testing.T, _ *payWorld, err error) {
				inDoubt := as[*errors.InDoubt](t, err)
				assert.Equal(t, http.StatusBadGateway, as[*errors.Unrecognized](t, inDoubt.Cause).Status)
				assert.True(t, inDoubt.Retryable())
			},
			sent: traffic{books: 1, confirms: 4, reads: 1},
		},
		"no confirm arrived": {
			arrange: func(w *payWorld) { w.Host.Arm("POST", confirmPath, sandbox.DropBefore().Times(100)) },
			want: func(t *testing.T, _ *payWorld, err error) {
				inDoubt := as[*errors.InDoubt](t, err)
				assert.Equal(t, "invoice-42", inDoubt.IdempotencyKey)
				assert.Equal(t, "ConfirmPayout", inDoubt.Operation)
			},
			sent: traffic{books: 1, confirms: 4, reads: 1},
		},
		"the service is down when it has to be asked": {
			arrange: func(w *payWorld) {
				w.refuse(http.StatusConflict, "approval_consumed")
				w.Host.Arm("GET", "/payouts/*", sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").
					Times(100))
				w.Host.Arm("POST", bookPath, sandbox.Delay(time.Nanosecond)) // the first booking passes
				w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").
					Times(100))
			},
			want: func(t *testing.T, _ *payWorld, err error) {
				assert.Equal(t, errors.MaybeMoved, as[*errors.InDoubt](t, err).MovedByCall())
			},
			sent: traffic{books: 5, confirms: 1, reads: 8},
		},
		"developer key deleted between booking and confirm": {
			arrange: func(w *payWorld) {
				w.Key.BeforeApproval(func(int) { require.NoError(w, w.Host.DeleteKey(w.Host.Credentials().KeyID)) })
			},
			want: func(t *testing.T, _ *payWorld, err error) { as[*errors.Forbidden](t, err) },
			sent: traffic{books: 1, confirms: 1, reads: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				c.arrange(w)
				_, err := w.pay(journaled())
				c.want(t, w, err)
				assert.Equal(t, c.sent, w.traffic())
				assert.Zero(t, w.Fundings())
			})
		})
	}
}

// Rule: idempotency.replay, idempotency.bank-payout
func TestPayAgainWithTheSameKey(t *testing.T) {
	t.Run("after it went through", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newPayWorld(t)
			first, err := w.payAs("invoice-42")
			require.NoError(t, err)
			time.Sleep(time.Hour)
			second, err := w.payAs("invoice-42")
			require.NoError(t, err)
			assert.Equal(t, first.Payout.ID, second.Payout.ID)
			assert.Equal(t, dapi.PayoutStatusCompleted, second.Payout.Status)
			assert.Equal(t, 1, w.Fundings())
		})
	})
	t.Run("after the window had closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newPayWorld(t)
			booked, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42"))
			require.NoError(t, err)
			time.Sleep(time.Hour)
			paid, err := w.payAs("invoice-42")
			require.NoError(t, err)
			assert.Equal(t, booked.ID, paid.Payout.ID)
			assert.Equal(t, 1, w.Fundings())
		})
	})
	for _, end := range []dapi.PayoutStatus{dapi.PayoutStatusFailed, dapi.PayoutStatusRefunded} {
		t.Run("after it was "+string(end), func(t *testing.T) {
			w := newPayWorld(t)
			first, err := w.payAs("invoice-42")
			require.NoError(t, err)
			_, err = w.account.Sandbox.SetPayoutStatus(t.Context(), first.Payout.ID, end)
			require.NoError(t, err)
			second, err := w.payAs("invoice-42")
			assert.Equal(t, end, as[*dapi.PayoutNotCompleted](t, err).Payout.Status)
			assert.Equal(t, first.Payout.ID, second.Payout.ID)
			assert.Equal(t, 1, w.Fundings(), "it is not funded twice")
			assert.Equal(t, 2, w.Sent("ConfirmPayout"))
		})
	}
}

// Rule: lifetime.price
func TestPayWorsePrice(t *testing.T) {
	for name, options := range map[string][]payOption{
		"without a tolerance": nil, "beyond the tolerance": {quoteTolerance(amount("0.019"))},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPayWorld(t)
			w.Key.BeforeApproval(func(n int) {
				if n == 1 {
					w.worsen("0.02")
					w.Host.Advance(31 * time.Second)
				}
			})
			_, err := w.pay(append(options, journaled())...)
			worsened := as[*dapi.PriceRefused](t, err)
			assert.Equal(t, dapi.BoundNoWorseThan, worsened.Bound)
			assert.True(t, worsened.Quote.DestinationAmount.LessThan(worsened.Reference.DestinationAmount))
			assert.True(t, worsened.Quote.SourceAmount.Equal(worsened.Reference.SourceAmount))
			assert.Contains(t, err.Error(),
				worsened.Quote.DestinationAmount.String()+" EUR would arrive for 25 USDC, which is worse than "+
					worsened.Reference.DestinationAmount.String()+" EUR for 25 USDC")
			assert.Equal(t, traffic{2, 1, 1}, w.traffic(), "the worse price is not confirmed")
			assert.Zero(t, w.Fundings())

			confirmed, err := w.account.Payouts.Confirm(t.Context(), w.asked, worsened.Payout)
			require.NoError(t, err, "the caller may take it all the same")
			assert.Equal(t, worsened.Payout.ID, confirmed.ID)
			assert.Equal(t, 1, w.Fundings())
		})
	}
}
