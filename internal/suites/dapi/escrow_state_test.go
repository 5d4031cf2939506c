package dapi_test

import (
	"context"
	"net/http"
	"strconv"
	"sync"
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

func assertDealInDoubt(t *testing.T, err error) {
	t.Helper()
	assertUnknown(t, err, "deal-1", "call again with the same key and terms")
}

// loseConfirms loses the answers to a confirm, and refuses the reads right after it.
func (w *dealWorld) loseConfirms() {
	w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit().Times(4))
	w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
}

// The money of a deal is held, and the first call was told that nothing is known. What the second call meets speaks for
// that call only.
func TestSecondCallOfADealInDoubt(t *testing.T) {
	for name, setback := range setbacks {
		for _, process := range []string{"the same client", "another process"} {
			t.Run(name+"/"+process, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newDealWorld(t)
					w.loseConfirms()
					_, err := w.open(dapi.FirstUse())
					assertDealInDoubt(t, err)
					require.Equal(t, 1, w.holdings())
					if process == "another process" {
						w.account = w.integrator().Self()
					}
					ctx, cancel := setback(w.payWorld)
					defer cancel()

					_, err = w.account.Escrows.Open(ctx, w.deal, "deal-1")
					w.ended(err)
					assertDealInDoubt(t, err)
					if ctx.Err() != nil {
						require.ErrorIs(t, err, ctx.Err())
					}
					time.Sleep(10 * time.Minute) // for a login that its caller left alone
				})
			})
		}
	}
}

// The refusal of a login says which deal it is about, once there is one.
func TestLoginRefusalOfADeal(t *testing.T) {
	w := newDealWorld(t)
	w.Host.Arm("POST", confirmActionPath, sandbox.ExpireToken())
	w.Host.Arm("POST", "/auth/**", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
	opened, err := w.open(dapi.FirstUse())
	as[*errors.Forbidden](t, err)
	head, _ := errors.CallInfoOf(err)
	assert.Equal(t, string(opened.ID), head.Resource)
	assert.Equal(t, "deal-1", head.IdempotencyKey)
}

// A second call that reaches the service finds the deal, and the money is held once.
func TestSecondCallSettlesADealInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDealWorld(t)
		w.loseConfirms()
		first, err := w.open()
		assertDealInDoubt(t, err)
		opened, err := w.open()
		require.NoError(t, err)
		assert.Equal(t, first.ID, opened.ID)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Status)
		assert.Equal(t, 1, w.holdings())

		w.Host.Arm("", "/**", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		_, err = w.open(dapi.FirstUse())
		assertDealInDoubt(t, err) // for the money is held, whatever the caller says
	})
}

// A process was killed after the money was held. Its successor has nothing but the key.
func TestFirstOpenOfAProcessAfterAKill(t *testing.T) {
	for name, setback := range setbacks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newDealWorld(t)
				_, err := w.open()
				require.NoError(t, err)
				w.account = w.integrator().Self()
				ctx, cancel := setback(w.payWorld)
				defer cancel()
				_, err = w.account.Escrows.Open(ctx, w.deal, "deal-1")
				w.ended(err)
				assertDealInDoubt(t, err)
				time.Sleep(10 * time.Minute) // for a login that its caller left alone
			})
		})
	}
}

// dealRefusals refuse a deal plainly, each at another step.
var dealRefusals = map[string]struct {
	arrange func(w *dealWorld)
	code    errors.Code
}{
	"at its creation": {func(w *dealWorld) {
		w.Host.Arm("POST", dealPath, sandbox.Respond(http.StatusConflict, "wallet_not_linked"))
	}, errors.CodeWalletNotLinked},
	"at its creation, for its rate": {func(w *dealWorld) {
		w.Host.Arm("POST", dealPath, sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
			WithHeader("Retry-After", "3600"))
	}, errors.CodeRateLimited},
	"at the confirm": {func(w *dealWorld) {
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusForbidden, "signing_policy_refused"))
	}, errors.CodeSigningPolicyRefused},
	"at the confirm, for the balance": {func(w *dealWorld) { w.deal.Amount = amount("100.01") }, errors.CodeConflict},
}

// A stated first use that was plainly refused holds nothing, and keeps the type of its refusal.
func TestFirstUseOfADealThatIsRefused(t *testing.T) {
	for name, c := range dealRefusals {
		t.Run(name, func(t *testing.T) {
			w := newDealWorld(t)
			c.arrange(w)
			for range 2 { // the second first use is one as well: nothing came of the first
				opened, err := w.open(dapi.FirstUse())
				assert.True(t, errors.HasCode(err, c.code), "%v", err)
				_, unknown := errors.AsType[*errors.OutcomeUnknown](err)
				assert.False(t, unknown, "%v", err)
				head, _ := errors.CallInfoOf(err)
				assert.Equal(t, "deal-1", head.IdempotencyKey)
				if opened != nil {
					assert.Equal(t, string(opened.ID), head.Resource)
				} else {
					assert.Empty(t, head.Resource)
				}
				c.arrange(w)
			}
			assert.Zero(t, w.holdings())
		})
	}
}

// Without the option an earlier call may have held the money, also if the service says that the deal is new.
func TestDealThatIsRefusedAndMayBeOlder(t *testing.T) {
	for name, c := range dealRefusals {
		t.Run(name, func(t *testing.T) {
			w := newDealWorld(t)
			c.arrange(w)
			_, err := w.open()
			assertDealInDoubt(t, err)
		})
	}
}

// A wrongly stated first use is ignored, as soon as the service knows better.
func TestFirstUseOfADealThatIsNone(t *testing.T) {
	for name, change := range map[string]func(r *http.Request, answer *http.Response){
		"the service says that it replays": nil,
		"the service says so by 200 alone": func(_ *http.Request, answer *http.Response) {
			answer.Header.Del("Idempotency-Replayed")
		},
		"the service says so by its header alone": func(_ *http.Request, answer *http.Response) {
			if answer.StatusCode == http.StatusOK {
				answer.StatusCode = http.StatusCreated
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newDealWorld(t)
			_, err := w.account.Escrows.Create(t.Context(), w.deal, moneymovement.IdempotencyKey("deal-1"))
			require.NoError(t, err)
			w.account = w.integrator().Self()
			if change != nil {
				w.Wire.OnAnswer(change)
			}
			w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusForbidden, "signing_policy_refused"))
			_, err = w.open(dapi.FirstUse())
			assertDealInDoubt(t, err)
		})
	}
}

// What is in doubt is so for one account and one operation: the same key serves a payment, another account's deal, and
// a deal's action.
func TestDoubtIsOfOneAccountAndOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDealWorld(t)
		integrator := w.integrator()
		w.account = integrator.Self()
		w.loseConfirms()
		_, err := w.open(dapi.FirstUse())
		assertDealInDoubt(t, err)

		w.Host.Arm("", "/**", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		_, err = w.open(dapi.FirstUse())
		assertDealInDoubt(t, err)
		_, err = w.account.Payouts.Pay(t.Context(), w.asked, "deal-1", dapi.FirstUse())
		w.ended(err)
		as[*errors.Forbidden](t, err)
		_, err = integrator.For("cl_1").Escrows.Open(t.Context(), w.deal, "deal-1", dapi.FirstUse())
		w.ended(err)
		as[*errors.Forbidden](t, err)
		_, err = w.account.Escrows.Act(t.Context(), w.deal, "esc_1", dapi.EscrowActionTypeRelease, "deal-1")
		w.ended(err)
		as[*errors.Forbidden](t, err)
	})
}

// A key that the service may have forgotten holds nothing: the same call would be a new deal.
//
// Rule: idempotency.derived
func TestDealsKeyThatIsTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDealWorld(t)
		first := time.Now()
		_, err := w.open(dapi.FirstUsedAt(first))
		require.NoError(t, err)
		time.Sleep(7 * 24 * time.Hour)
		before := len(w.Host.Requests())
		_, err = w.open(dapi.FirstUsedAt(first))
		assert.Equal(t, first, as[*dapi.KeyTooOld](t, err).FirstUsed)
		assert.Len(t, w.Host.Requests(), before, "nothing was sent")
		assert.Equal(t, 1, w.holdings())
	})
}

// A key can grow too old while its deal waits for its turn.
func TestDealsKeyThatGrowsTooOldInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDealWorld(t)
		w.deal.Amount = amount("1")
		release := make(chan struct{})
		w.Key.BeforeApproval(func(int) { <-release })
		var line sync.WaitGroup
		for i := range 6 { // as many as may be under way
			line.Go(func() {
				_, _ = w.account.Escrows.Open(t.Context(), w.deal, moneymovement.DeriveKey("ahead", strconv.Itoa(i)))
			})
		}
		synctest.Wait()
		line.Go(func() {
			_, err := w.open(dapi.FirstUsedAt(time.Now().Add(-7*24*time.Hour + 90*time.Minute)))
			as[*dapi.KeyTooOld](t, err)
			assert.Equal(t, "deal-1", as[*dapi.KeyTooOld](t, err).IdempotencyKey)
		})
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.account.Escrows.Open(short, w.deal, "deal-3", dapi.FirstUsedAt(time.Now().Add(-7*24*time.Hour)))
		w.ended(err)
		as[*dapi.KeyTooOld](t, err) // at once, for it is too old already
		_, err = w.account.Escrows.Open(short, w.deal, "deal-2", dapi.FirstUse())
		w.ended(err)
		assert.Equal(t, errors.CallInfo{Operation: "CreateEscrow", IdempotencyKey: "deal-2"},
			as[*errors.NotDelivered](t, err).CallInfo)
		_, err = w.account.Escrows.Act(short, w.deal, "esc_1", dapi.EscrowActionTypeRelease, "release-1", dapi.FirstUse())
		w.ended(err)
		assert.Equal(t, "release-1", as[*errors.NotDelivered](t, err).IdempotencyKey)
		time.Sleep(time.Hour)
		creates := len(w.Host.Requests())
		close(release)
		line.Wait()
		for _, request := range w.Host.Requests()[creates:] {
			assert.NotEqual(t, "/dapi/v1/escrow", request.Path, "it is not even created")
		}
	})
}

// The service's clock counts as well: here it is moved, and nothing tells before the deal that it makes anew.
func TestDealsKeyThatIsTooOldByTheServicesClock(t *testing.T) {
	w := newDealWorld(t)
	first := time.Now()
	_, err := w.open(dapi.FirstUsedAt(first))
	require.NoError(t, err)
	w.Host.Advance(8 * 24 * time.Hour)
	w.account = w.integrator().Self()
	_, err = w.open(dapi.FirstUsedAt(first))
	assert.Equal(t, "CreateEscrow", as[*dapi.KeyTooOld](t, err).Operation)
	assert.Equal(t, 1, w.holdings(), "the second is not signed")
}

// A key that belongs to other terms did nothing for these, so that repeating the call would help nobody.
func TestDealsKeyOfOtherTerms(t *testing.T) {
	for name, sameClient := range map[string]bool{"the same client": true, "another process": false} {
		t.Run(name, func(t *testing.T) {
			w := newDealWorld(t)
			first, err := w.open()
			require.NoError(t, err)
			if !sameClient {
				w.account = w.integrator().Self()
			}
			w.deal.Amount = amount("41")
			_, err = w.open()
			assert.Equal(t, string(first.ID), as[*errors.IdempotencyKeyReused](t, err).EscrowID)
			assert.Equal(t, 1, w.holdings())
		})
	}
}

// The deal's own end settles a doubt: one that expired never held money.
func TestDealInDoubtThatExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDealWorld(t)
		w.Host.Arm("POST", confirmActionPath, sandbox.DropBefore().Times(100))
		w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		_, err := w.open()
		assertDealInDoubt(t, err)
		w.onSuccess("POST", dealPath, func(deal map[string]any) { deal["status"] = "expired" })
		_, err = w.open()
		assert.Equal(t, errors.NotMoved, as[*dapi.EscrowNotOpened](t, err).MovedByCall())
	})
}

// Two calls with one key at once: the refusal of one says nothing about the deal, whose money the other may be holding.
func TestRefusalBesideAnotherOpenWithTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDealWorld(t)
		w.Host.Arm("POST", dealPath, sandbox.Delay(10*time.Second))
		w.Host.Arm("POST", dealPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
		slow, _, err := atOnce(func() (*dapi.Escrow, error) { return w.open(dapi.FirstUse()) })
		assertDealInDoubt(t, err)
		require.NoError(t, slow)
		assert.Equal(t, 1, w.holdings())
	})
}

// The other call can be the one that began later.
func TestRefusalOfADealThatAnotherCallMayHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDealWorld(t)
		w.Host.Arm("POST", dealPath, sandbox.Delay(30*time.Second))
		w.loseConfirms()
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusForbidden, "signing_policy_refused"))
		slow, _, err := atOnce(func() (*dapi.Escrow, error) { return w.open(dapi.FirstUse()) })
		assertDealInDoubt(t, err)
		assertDealInDoubt(t, slow)
		assert.Equal(t, 1, w.holdings())
	})
}

// Whatever left the first call in doubt, a plain refusal of the second does not settle it.
func TestDealsThatAreInDoubtBeforeTheirConfirm(t *testing.T) {
	for name, arrange := range map[string]func(w *dealWorld){
		"the creation is lost": func(w *dealWorld) { w.Host.Arm("POST", dealPath, sandbox.DropBefore().Times(4)) },
		"the deal is of another key": func(w *dealWorld) {
			w.onSuccess("POST", dealPath, func(deal map[string]any) { deal["idempotencyKey"] = "deal-2" })
		},
		"the action is of another key": func(w *dealWorld) {
			w.onSuccess("POST", dealPath, func(deal map[string]any) {
				deal["action"].(map[string]any)["idempotencyKey"] = "deal-2"
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newDealWorld(t)
				arrange(w)
				_, err := w.open(dapi.FirstUse())
				assertDealInDoubt(t, err)
				w.Host.Arm("POST", dealPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
				_, err = w.open(dapi.FirstUse())
				assertDealInDoubt(t, err)
				assert.Zero(t, w.holdings())
			})
		})
	}
}

// A signer that panics ends its call, as for a payment: what came of it is in doubt.
func TestSignerThatPanicsOverADeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDealWorld(t)
		panics := func(call func()) {
			w.Key.BeforeApproval(func(int) { panic("signer") })
			assert.Panics(t, call)
			w.Key.BeforeApproval(nil)
		}
		panics(func() { _, _ = w.open() })
		w.Host.Arm("POST", dealPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(2))
		_, err := w.open(dapi.FirstUse())
		assertDealInDoubt(t, err)
		time.Sleep(8 * 24 * time.Hour)
		_, err = w.open(dapi.FirstUse())
		assertDealInDoubt(t, err)
	})
	synctest.Test(t, func(t *testing.T) {
		w, id := newReleaseWorld(t)
		w.Key.BeforeApproval(func(int) { panic("signer") })
		assert.Panics(t, func() { _, _ = w.release(t.Context(), id) })
		w.Key.BeforeApproval(nil)
		time.Sleep(8 * 24 * time.Hour)
		w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusForbidden, "forbidden"))
		_, err := w.release(t.Context(), id)
		assertUnknown(t, err, "release-1", "call again with the same key and terms")
	})
}
