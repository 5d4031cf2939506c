package dapi_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

const dealPath, syncPath = "/escrow", "/escrow/*/sync"

// dealWorld is a world in which 40 USDC are to be held.
type dealWorld struct {
	*payWorld
	deal dapi.EscrowCreate
}

func newDealWorld(t *testing.T) *dealWorld {
	t.Helper()
	return &dealWorld{newPayWorld(t), deal()}
}

func (w *dealWorld) open(options ...payOption) (dapi.EscrowResult, error) {
	return w.account.Escrows.Open(w.Context(), w.deal, "deal-1", dealTerms(options...))
}

// holdings counts how often money was moved into a deal.
func (w *dealWorld) holdings() (count int) {
	for _, entry := range w.Host.Ledger().Entries {
		if entry.Kind == "escrow_active" && entry.Amount.IsNegative() {
			count++
		}
	}
	return count
}

func (w *dealWorld) assertNothingHeld(t *testing.T) {
	t.Helper()
	assert.Zero(t, w.Key.Approvals(), "the signer is not called")
	assert.Zero(t, w.holdings())
}

// later moves a time of an answer.
func later(member string, by time.Duration) func(deal map[string]any) {
	return func(deal map[string]any) {
		at, err := time.Parse(time.RFC3339Nano, deal[member].(string))
		if err != nil {
			panic(err)
		}
		deal[member] = at.Add(by).Format(time.RFC3339Nano)
	}
}

// without leaves members of an answer out.
func without(members ...string) func(map[string]any) {
	return func(body map[string]any) {
		for _, member := range members {
			delete(body, member)
		}
	}
}

// both makes two changes.
func both(first, second func(map[string]any)) func(map[string]any) {
	return func(body map[string]any) { first(body); second(body) }
}

// echoedDeals are deals as the service may repeat them, and the member that then differs from what was asked, if one
// does.
var echoedDeals = map[string]struct {
	change func(deal map[string]any)
	member string
	moves  bool // as the windows of a deal can, when it is approved
}{
	"another amount":    {change: func(d map[string]any) { d["amount"] = "400" }, member: "amount"},
	"an amount of zero": {change: func(d map[string]any) { d["amount"] = "0" }, member: "amount"},
	"another currency":  {change: func(d map[string]any) { d["currency"] = "EURC" }, member: "currency"},
	"another payee": {change: func(d map[string]any) {
		d["payee"] = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
	}, member: "payee"},
	"more time to approve": {change: later("approveBy", time.Hour), member: "approveWithin"},
	"less time to approve": {change: both(without("holdUntil", "refundableUntil"), later("approveBy", -30*time.Minute)),
		member: "approveWithin", moves: true},
	"all of it earlier": {
		change: both(later("approveBy", -time.Hour),
			both(later("holdUntil", -time.Hour), later("refundableUntil", -time.Hour))),
		member: "approveWithin", moves: true,
	},
	"a longer hold":  {change: later("holdUntil", 24*time.Hour), member: "holdFor"},
	"a shorter hold": {change: later("holdUntil", -24*time.Hour), member: "holdFor"},
	"a hold an hour shorter": {change: both(later("holdUntil", -time.Hour), later("refundableUntil", -time.Hour)),
		member: "holdFor", moves: true},
	"two seconds to round":      {change: later("refundableUntil", 2*time.Second)},
	"two seconds more":          {change: later("refundableUntil", 2001*time.Millisecond), member: "refundableFor"},
	"two seconds the other way": {change: later("refundableUntil", -2*time.Second)},
	"two seconds less":          {change: later("refundableUntil", -2001*time.Millisecond), member: "refundableFor"},
	"a longer refund":           {change: later("refundableUntil", 24*time.Hour), member: "refundableFor"},
	"a shorter refund":          {change: later("refundableUntil", -time.Minute), member: "refundableFor"},
	"hold, approve not said": {change: both(without("approveBy"), later("holdUntil", 24*time.Hour)),
		member: "holdFor"},
	"refund, hold not said": {change: both(without("approveBy", "holdUntil"),
		later("refundableUntil", 24*time.Hour)), member: "refundableFor"},
	"no creation, longer hold": {change: both(without("createdAt"), later("holdUntil", 24*time.Hour)),
		member: "holdFor"},
	"the amount in other form": {change: func(d map[string]any) { d["amount"] = "40.000" }},
	"the payee in other case":  {change: func(d map[string]any) { d["payee"] = strings.ToLower(payee) }},
	"a time in whole seconds":  {change: later("approveBy", -900*time.Millisecond)},
	"no terms":                 {change: without("amount", "currency", "payee")},
	"no windows":               {change: without("createdAt", "approveBy", "holdUntil", "refundableUntil")},
	"no creation":              {change: without("createdAt")},
}

// What a deal echoes is compared with what was asked for, by value. It may leave terms out.
func TestEchoedTermsOfADeal(t *testing.T) {
	for name, c := range echoedDeals {
		t.Run(name, func(t *testing.T) {
			w := newDealWorld(t)
			w.onSuccess("POST", dealPath, c.change)
			opened, err := w.open(journaled())
			if c.member == "" {
				require.NoError(t, err)
				assert.Equal(t, 1, w.holdings())
				return
			}
			differs := as[*dapi.TermsDiffer](t, err)
			assert.Equal(t, c.member, differs.Member)
			assert.Equal(t, errors.NotMoved, differs.MovedByCall())
			assert.Equal(t, errors.CallInfo{Operation: "CreateEscrow", Resource: string(opened.Escrow.ID),
				IdempotencyKey: "deal-1"}, differs.CallInfo)
			w.assertNothingHeld(t)
		})
		t.Run(name+", and the deal is active", func(t *testing.T) {
			w := newDealWorld(t)
			w.onSuccess("POST", dealPath, both(c.change, func(deal map[string]any) {
				deal["status"] = "active"
				delete(deal, "action")
			}))
			_, err := w.open(journaled())
			assertDoubted(t, c.member, c.moves, err)
			w.assertNothingHeld(t)
		})
		t.Run(name+", in the answer to the confirm", func(t *testing.T) {
			w := newDealWorld(t)
			w.onSuccess("POST", confirmActionPath, c.change)
			w.Host.Arm("POST", syncPath, sandbox.Respond(403, "forbidden").Times(10))
			_, err := w.open(journaled())
			assertDoubted(t, c.member, c.moves, err)
			assert.Equal(t, 1, w.holdings())
		})
	}
}

// assertDoubted is what comes of terms that are echoed when money may have moved: a difference is doubt, never success.
func assertDoubted(t *testing.T, member string, moves bool, err error) {
	t.Helper()
	if member == "" || moves {
		require.NoError(t, err)
		return
	}
	differs := as[*dapi.TermsDiffer](t, as[*errors.InDoubt](t, err).Cause)
	assert.Equal(t, member, differs.Member)
	assert.NotEmpty(t, differs.Operation)
	assert.NotEmpty(t, differs.Resource)
}

// Windows that were asked for, and those that stand where none was, are what the service makes of them.
//
// Rule: lifetime.escrow-windows
func TestWindowsOfADeal(t *testing.T) {
	for name, deal := range map[string]dapi.EscrowCreate{
		"all left to their defaults": {},
		"all asked for":              {ApproveWithin: "90m", HoldFor: "2d", RefundableFor: "45s"},
		"none to hold":               {HoldFor: "0s"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newDealWorld(t)
			deal.Amount, deal.Currency, deal.Payee = w.deal.Amount, w.deal.Currency, w.deal.Payee
			w.deal = deal
			opened, err := w.open()
			require.NoError(t, err)
			assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
			assert.False(t, opened.Escrow.RefundableUntil.IsZero())
		})
	}
	t.Run("the service ignores them", func(t *testing.T) {
		w := newDealWorld(t)
		w.onSuccess("POST", dealPath, later("holdUntil", time.Hour))
		w.deal.HoldFor = ""
		_, err := w.open(journaled())
		differs := as[*dapi.TermsDiffer](t, err)
		assert.Equal(t, "14d", differs.Asked)
		w.assertNothingHeld(t)
	})
}

// An action that is echoed with another key or kind, or without its key, is not signed.
//
// Rule: idempotency.escrow
func TestActionOfAnotherKeyIsNotSigned(t *testing.T) {
	action := func(change func(action map[string]any)) func(map[string]any) {
		return func(deal map[string]any) { change(deal["action"].(map[string]any)) }
	}
	for name, c := range map[string]struct {
		change func(deal map[string]any)
		member string // else the outcome is unknown
	}{
		"another deal's key":   {change: func(d map[string]any) { d["idempotencyKey"] = "deal-2" }},
		"no deal's key":        {change: without("idempotencyKey")},
		"another action's key": {change: action(func(a map[string]any) { a["idempotencyKey"] = "deal-2" })},
		"no action's key":      {change: action(without("idempotencyKey"))},
		"no action":            {change: without("action")},
		"no action, frozen":    {change: both(without("action"), func(d map[string]any) { d["status"] = "frozen" })},
		"nothing that can be done, frozen": {change: both(without("action"), func(d map[string]any) {
			d["status"], d["availableActions"] = "frozen", []any{}
		})},
		"another kind of action": {change: action(func(a map[string]any) { a["type"] = "release" }),
			member: "action.type"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newDealWorld(t)
			w.onSuccess("POST", dealPath, c.change)
			_, err := w.open(journaled())
			if c.member == "" {
				require.Error(t, err)
				head, _ := errors.CallInfoOf(err)
				assert.Equal(t, "deal-1", head.IdempotencyKey)
			} else {
				assert.Equal(t, c.member, as[*dapi.TermsDiffer](t, err).Member)
			}
			w.assertNothingHeld(t)
		})
		if c.member != "" {
			continue
		}
		t.Run(name+", and the deal is active", func(t *testing.T) {
			w := newDealWorld(t)
			w.onSuccess("POST", dealPath, both(c.change, func(d map[string]any) { d["status"] = "active" }))
			opened, err := w.open(journaled())
			if !strings.HasSuffix(name, "deal's key") {
				require.NoError(t, err, "the deal is of this key, and an action that is over needs none")
				assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
				return
			}
			if name == "no deal's key" { // such a response is not read, and nothing was signed
				as[*errors.UnexpectedResponse](t, err)
				return
			}
			as[*errors.InDoubt](t, err)
		})
	}
	t.Run("other terms, and a status that nobody knows", func(t *testing.T) {
		w := newDealWorld(t)
		w.onSuccess("POST", dealPath, func(d map[string]any) { d["amount"], d["status"] = "400", "frozen" })
		_, err := w.open(journaled())
		assertDoubted(t, "amount", false, err)
		w.assertNothingHeld(t)
	})
	t.Run("other terms, and no status", func(t *testing.T) {
		w := newDealWorld(t)
		w.onSuccess("POST", dealPath, both(without("status"), func(d map[string]any) { d["amount"] = "400" }))
		_, err := w.open(journaled())
		assert.Equal(t, "amount", as[*dapi.TermsDiffer](t, err).Member, "nothing says that it is held")
		w.assertNothingHeld(t)
	})
	t.Run("a bare action", func(t *testing.T) {
		w := newDealWorld(t)
		w.onSuccess("POST", dealPath, action(func(a map[string]any) { delete(a, "type") }))
		_, err := w.open()
		require.NoError(t, err, "the approval says which action it is")
		assert.Equal(t, 1, w.holdings())
	})
}

// A deal that is answered with other words is held if what can be done next says so. It is not signed once more.
func TestADealThatIsHeldIsNotSignedAgain(t *testing.T) {
	can := func(status string, actions ...any) func(map[string]any) {
		return func(deal map[string]any) { deal["status"], deal["availableActions"] = status, actions }
	}
	for name, change := range map[string]func(deal map[string]any){
		"it can be released":             both(without("action"), can("held", "release")),
		"it can be refunded":             both(without("action"), can("held", "refund")),
		"it is active, and nothing else": can("active"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newDealWorld(t)
			w.onSuccess("POST", dealPath, change)
			_, err := w.open()
			require.NoError(t, err)
			w.assertNothingHeld(t)
		})
	}
	for name, change := range map[string]func(answer *http.Response){
		"":                    func(*http.Response) {},
		", by status alone":   func(answer *http.Response) { answer.Header.Del("Idempotency-Replayed") },
		", by a header alone": func(answer *http.Response) { answer.StatusCode = http.StatusCreated },
	} {
		t.Run("it is active, in a replay that offers its approval still"+name, func(t *testing.T) {
			w := newDealWorld(t)
			_, err := w.account.Escrows.Create(t.Context(), w.deal, moneymovement.IdempotencyKey("deal-1"))
			require.NoError(t, err)
			w.account = w.integrator().Self()
			w.Wire.OnAnswer(func(r *http.Request, answer *http.Response) {
				if r.URL.Path == "/dapi/v1"+dealPath {
					var body map[string]any
					assert.NoError(t, json.UnmarshalRead(answer.Body, &body))
					can("active", "approve")(body)
					changed, err := json.Marshal(body)
					assert.NoError(t, err)
					inprocess.SetBody(answer, changed)
					change(answer)
				}
			})
			_, err = w.open()
			require.NoError(t, err)
			w.assertNothingHeld(t)
		})
	}
}

// A deal is known by its id and terms: what another one became settles no doubt about this one.
func TestDoubtIsNotSettledByAnotherDeal(t *testing.T) {
	for name, change := range map[string]func(deal map[string]any){
		"another id":     func(d map[string]any) { d["id"] = "esc_another" },
		"another amount": func(d map[string]any) { d["amount"] = "1" },
		"another payee":  func(d map[string]any) { d["payee"] = "0x8617E340B3D01FA5F11F306F4090FD50E238070D" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newDealWorld(t)
				w.Host.Arm("POST", confirmActionPath, sandbox.DropBefore().Times(100))
				w.onSuccess("POST", syncPath, both(change, func(deal map[string]any) { deal["status"] = "active" }))
				_, err := w.open(journaled())
				as[*errors.InDoubt](t, err)
				assert.Zero(t, w.holdings())
			})
		})
	}
}

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
					_, err := w.open(journaled())
					assertDealInDoubt(t, err)
					require.Equal(t, 1, w.holdings())
					if process == "another process" {
						w.account = w.integrator().Self()
					}
					ctx, cancel := setback(w.payWorld)
					defer cancel()

					_, err = w.account.Escrows.Open(ctx, w.deal, "deal-1", dapi.EscrowTerms{})
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
	opened, err := w.open(journaled())
	as[*errors.Forbidden](t, err)
	head, _ := errors.CallInfoOf(err)
	assert.Equal(t, string(opened.Escrow.ID), head.Resource)
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
		assert.Equal(t, first.Escrow.ID, opened.Escrow.ID)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
		assert.Equal(t, 1, w.holdings())

		w.Host.Arm("", "/**", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		_, err = w.open(journaled())
		assertDealInDoubt(t, err) // for the money is held, whatever the caller says
	})
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
func TestARefusedDealIsUnpaid(t *testing.T) {
	for name, c := range dealRefusals {
		t.Run(name, func(t *testing.T) {
			w := newDealWorld(t)
			c.arrange(w)
			for range 2 { // the second first use is one as well: nothing came of the first
				opened, err := w.open(journaled())
				assert.True(t, errors.HasCode(err, c.code), "%v", err)
				_, unknown := errors.AsType[*errors.InDoubt](err)
				assert.False(t, unknown, "%v", err)
				head, _ := errors.CallInfoOf(err)
				assert.Equal(t, "deal-1", head.IdempotencyKey)
				if opened.Escrow != nil {
					assert.Equal(t, string(opened.Escrow.ID), head.Resource)
				} else {
					assert.Empty(t, head.Resource)
				}
				c.arrange(w)
			}
			assert.Zero(t, w.holdings())
		})
		t.Run(name+", without a journal", func(t *testing.T) {
			w := newDealWorld(t)
			c.arrange(w)
			_, err := w.open()
			assertDealInDoubt(t, err) // an earlier call may have held the money
		})
	}
}

// A deal that was created and not signed is taken up again, however the service says that it replays.
func TestADealThatWasNotSignedIsNoDoubt(t *testing.T) {
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
			refused, err := w.open(journaled())
			as[*errors.SigningPolicyRefused](t, err)
			assert.True(t, refused.Unpaid)
			assert.Equal(t, moneymovement.PaymentNeedsDecision, refused.State)
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
		_, err := w.open(journaled())
		assertDealInDoubt(t, err)

		w.Host.Arm("", "/**", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		_, err = w.open(journaled())
		assertDealInDoubt(t, err)
		_, err = w.account.Payouts.Pay(t.Context(), w.asked, "deal-1", payTerms(journaled()))
		as[*errors.Forbidden](t, err)
		_, err = integrator.For("cl_1").Escrows.Open(t.Context(), w.deal, "deal-1", dealTerms(journaled()))
		as[*errors.Forbidden](t, err)
		_, err = w.account.Escrows.Act(t.Context(), w.deal, "esc_1", dapi.EscrowActionTypeRelease, "deal-1",
			dealTerms(journaled()))
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
		_, err := w.open(firstUsedAt(first))
		require.NoError(t, err)
		time.Sleep(7 * 24 * time.Hour)
		before := len(w.Host.Requests())
		_, err = w.open(firstUsedAt(first))
		assert.Equal(t, first, as[*dapi.KeyTooOld](t, refusalIn(err)).FirstUsed)
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
				_, _ = w.account.Escrows.Open(t.Context(), w.deal, moneymovement.DeriveKey("ahead", strconv.Itoa(i)),
					dapi.EscrowTerms{})
			})
		}
		synctest.Wait()
		line.Go(func() {
			_, err := w.open(firstUsedAt(time.Now().Add(-7*24*time.Hour + 90*time.Minute)))
			as[*dapi.KeyTooOld](t, refusalIn(err))
			assert.Equal(t, "deal-1", as[*dapi.KeyTooOld](t, refusalIn(err)).IdempotencyKey)
		})
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.account.Escrows.Open(short, w.deal, "deal-3",
			dealTerms(firstUsedAt(time.Now().Add(-7*24*time.Hour))))
		as[*dapi.KeyTooOld](t, refusalIn(err)) // at once, for it is too old already
		_, err = w.account.Escrows.Open(short, w.deal, "deal-2", dealTerms(journaled()))
		assert.Equal(t, errors.CallInfo{Operation: "CreateEscrow", IdempotencyKey: "deal-2"},
			as[*errors.NotDelivered](t, err).CallInfo)
		_, err = w.account.Escrows.Act(short, w.deal, "esc_1", dapi.EscrowActionTypeRelease, "release-1",
			dealTerms(journaled()))
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
	_, err := w.open(firstUsedAt(first))
	require.NoError(t, err)
	w.Host.Advance(8 * 24 * time.Hour)
	w.account = w.integrator().Self()
	_, err = w.open(firstUsedAt(first))
	assert.Equal(t, "CreateEscrow", as[*dapi.KeyTooOld](t, refusalIn(err)).Operation)
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
			assert.Equal(t, string(first.Escrow.ID), as[*errors.IdempotencyKeyReused](t, refusalIn(err)).EscrowID)
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
		assert.ErrorContains(t, err,
			" expired before it was approved, so it never held money; to open a deal, use a new key")
	})
}

// Two calls with one key at once: the refusal of one says nothing about the deal, whose money the other may be holding.
func TestRefusalBesideAnotherOpenWithTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDealWorld(t)
		w.Host.Arm("POST", dealPath, sandbox.Delay(10*time.Second))
		w.Host.Arm("POST", dealPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
		slow, _, err := atOnce(func() (dapi.EscrowResult, error) { return w.open(journaled()) })
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
		slow, _, err := atOnce(func() (dapi.EscrowResult, error) { return w.open(journaled()) })
		assertDealInDoubt(t, err)
		assertDealInDoubt(t, slow)
		assert.Equal(t, 1, w.holdings())
	})
}

// Before the confirm, nothing is signed, which only a journal proves over calls. Without one, a plain refusal of the
// second call settles nothing.
func TestDealsThatFailBeforeTheirConfirm(t *testing.T) {
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
				opened, err := w.open(journaled())
				require.Error(t, err)
				assert.Equal(t, moneymovement.PaymentNotPaid, opened.State)
				assert.True(t, opened.Unpaid)
				w = newDealWorld(t)
				arrange(w)
				_, err = w.open()
				assertDealInDoubt(t, err)
				w.Host.Arm("POST", dealPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
				_, err = w.open(journaled())
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
		_, err := w.open(journaled())
		assertDealInDoubt(t, err)
		time.Sleep(8 * 24 * time.Hour)
		_, err = w.open(journaled())
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
