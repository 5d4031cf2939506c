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

const escrowPath, syncPath = "/escrow", "/escrow/*/sync"

// escrowWorld is a world in which 40 USDC are to be held.
type escrowWorld struct {
	*payWorld
	escrow dapi.EscrowCreate
}

func newEscrowWorld(t *testing.T) *escrowWorld {
	t.Helper()
	return &escrowWorld{newPayWorld(t), newEscrow()}
}

func (w *escrowWorld) open(options ...payOption) (dapi.EscrowResult, error) {
	return w.account.Escrows.Open(w.Context(), w.escrow, "escrow-1", escrowTerms(options...))
}

// holdings counts how often money was moved into an escrow.
func (w *escrowWorld) holdings() (count int) {
	for _, entry := range w.Host.Ledger().Entries {
		if entry.Kind == "escrow_active" && entry.Amount.IsNegative() {
			count++
		}
	}
	return count
}

func (w *escrowWorld) assertNothingHeld(t *testing.T) {
	t.Helper()
	assert.Zero(t, w.Key.Approvals(), "the signer is not called")
	assert.Zero(t, w.holdings())
}

// later moves a time of a response.
func later(member string, by time.Duration) func(escrow map[string]any) {
	return func(escrow map[string]any) {
		at, err := time.Parse(time.RFC3339Nano, escrow[member].(string))
		if err != nil {
			panic(err)
		}
		escrow[member] = at.Add(by).Format(time.RFC3339Nano)
	}
}

// without leaves members of a response out.
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

// echoedEscrows are escrows as the service may repeat them, and the member that then differs from what was asked, if
// one does.
var echoedEscrows = map[string]struct {
	change func(escrow map[string]any)
	member string
	moves  bool // as the windows of an escrow can, when it is approved
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

// What an escrow echoes is compared with what was asked for, by value. It may leave terms out.
func TestEchoedTermsOfAnEscrow(t *testing.T) {
	for name, c := range echoedEscrows {
		t.Run(name, func(t *testing.T) {
			w := newEscrowWorld(t)
			w.onSuccess("POST", escrowPath, c.change)
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
				IdempotencyKey: "escrow-1"}, differs.CallInfo)
			w.assertNothingHeld(t)
		})
		t.Run(name+", and the escrow is active", func(t *testing.T) {
			w := newEscrowWorld(t)
			w.onSuccess("POST", escrowPath, both(c.change, func(escrow map[string]any) {
				escrow["status"] = "active"
				delete(escrow, "action")
			}))
			_, err := w.open(journaled())
			assertTermsDiffer(t, c.member, c.moves, err)
			w.assertNothingHeld(t)
		})
		t.Run(name+", in the response to the confirm", func(t *testing.T) {
			w := newEscrowWorld(t)
			w.onSuccess("POST", confirmActionPath, c.change)
			w.Host.Arm("POST", syncPath, sandbox.Respond(403, "forbidden").Times(10))
			_, err := w.open(journaled())
			assertTermsDiffer(t, c.member, c.moves, err)
			assert.Equal(t, 1, w.holdings())
		})
	}
}

// assertTermsDiffer asserts that echoed terms with a difference are in doubt, and never a success, if money may have
// moved.
func assertTermsDiffer(t *testing.T, member string, moves bool, err error) {
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
func TestWindowsOfAnEscrow(t *testing.T) {
	for name, escrow := range map[string]dapi.EscrowCreate{
		"all left to their defaults": {},
		"all asked for":              {ApproveWithin: "90m", HoldFor: "2d", RefundableFor: "45s"},
		"none to hold":               {HoldFor: "0s"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEscrowWorld(t)
			escrow.Amount, escrow.Currency, escrow.Payee = w.escrow.Amount, w.escrow.Currency, w.escrow.Payee
			w.escrow = escrow
			opened, err := w.open()
			require.NoError(t, err)
			assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
			assert.False(t, opened.Escrow.RefundableUntil.IsZero())
		})
	}
	t.Run("the service ignores them", func(t *testing.T) {
		w := newEscrowWorld(t)
		w.onSuccess("POST", escrowPath, later("holdUntil", time.Hour))
		w.escrow.HoldFor = ""
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
		return func(escrow map[string]any) { change(escrow["action"].(map[string]any)) }
	}
	for name, c := range map[string]struct {
		change func(escrow map[string]any)
		member string // else the outcome is in doubt
	}{
		"another escrow's key": {change: func(d map[string]any) { d["idempotencyKey"] = "escrow-2" }},
		"no escrow's key":      {change: without("idempotencyKey")},
		"another action's key": {change: action(func(a map[string]any) { a["idempotencyKey"] = "escrow-2" })},
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
			w := newEscrowWorld(t)
			w.onSuccess("POST", escrowPath, c.change)
			_, err := w.open(journaled())
			if c.member == "" {
				require.Error(t, err)
				head, _ := errors.CallInfoOf(err)
				assert.Equal(t, "escrow-1", head.IdempotencyKey)
			} else {
				assert.Equal(t, c.member, as[*dapi.TermsDiffer](t, err).Member)
			}
			w.assertNothingHeld(t)
		})
		if c.member != "" {
			continue
		}
		t.Run(name+", and the escrow is active", func(t *testing.T) {
			w := newEscrowWorld(t)
			w.onSuccess("POST", escrowPath, both(c.change, func(d map[string]any) { d["status"] = "active" }))
			opened, err := w.open(journaled())
			if !strings.HasSuffix(name, "escrow's key") {
				require.NoError(t, err, "the escrow is of this key, and an action that is over needs none")
				assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
				return
			}
			if name == "no escrow's key" { // such a response is not read, and nothing was signed
				as[*errors.UnexpectedResponse](t, err)
				return
			}
			as[*errors.InDoubt](t, err)
		})
	}
	t.Run("other terms, and a status that nobody knows", func(t *testing.T) {
		w := newEscrowWorld(t)
		w.onSuccess("POST", escrowPath, func(d map[string]any) { d["amount"], d["status"] = "400", "frozen" })
		_, err := w.open(journaled())
		assertTermsDiffer(t, "amount", false, err)
		w.assertNothingHeld(t)
	})
	t.Run("other terms, and no status", func(t *testing.T) {
		w := newEscrowWorld(t)
		w.onSuccess("POST", escrowPath, both(without("status"), func(d map[string]any) { d["amount"] = "400" }))
		_, err := w.open(journaled())
		assert.Equal(t, "amount", as[*dapi.TermsDiffer](t, err).Member, "nothing says that it is held")
		w.assertNothingHeld(t)
	})
	t.Run("a bare action", func(t *testing.T) {
		w := newEscrowWorld(t)
		w.onSuccess("POST", escrowPath, action(func(a map[string]any) { delete(a, "type") }))
		_, err := w.open()
		require.NoError(t, err, "the approval says which action it is")
		assert.Equal(t, 1, w.holdings())
	})
}

// An escrow that is returned with other words is held if what can be done next says so. It is not signed once more.
func TestAnEscrowThatIsHeldIsNotSignedAgain(t *testing.T) {
	can := func(status string, actions ...any) func(map[string]any) {
		return func(escrow map[string]any) { escrow["status"], escrow["availableActions"] = status, actions }
	}
	for name, change := range map[string]func(escrow map[string]any){
		"it can be released":             both(without("action"), can("held", "release")),
		"it can be refunded":             both(without("action"), can("held", "refund")),
		"it is active, and nothing else": can("active"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newEscrowWorld(t)
			w.onSuccess("POST", escrowPath, change)
			_, err := w.open()
			require.NoError(t, err)
			w.assertNothingHeld(t)
		})
	}
	for name, change := range map[string]func(response *http.Response){
		"":                    func(*http.Response) {},
		", by status alone":   func(response *http.Response) { response.Header.Del("Idempotency-Replayed") },
		", by a header alone": func(response *http.Response) { response.StatusCode = http.StatusCreated },
	} {
		t.Run("it is active, in a replay that offers its approval still"+name, func(t *testing.T) {
			w := newEscrowWorld(t)
			_, err := w.account.Escrows.Create(t.Context(), w.escrow, moneymovement.IdempotencyKey("escrow-1"))
			require.NoError(t, err)
			w.account = w.integrator().Self()
			w.Wire.OnResponse(func(r *http.Request, response *http.Response) {
				if r.URL.Path == "/dapi/v1"+escrowPath {
					var body map[string]any
					assert.NoError(t, json.UnmarshalRead(response.Body, &body))
					can("active", "approve")(body)
					changed, err := json.Marshal(body)
					assert.NoError(t, err)
					inprocess.SetBody(response, changed)
					change(response)
				}
			})
			_, err = w.open()
			require.NoError(t, err)
			w.assertNothingHeld(t)
		})
	}
}

// An escrow is known by its id and terms: what another one became settles no doubt about this one.
func TestAnotherEscrowDoesNotSettleADoubt(t *testing.T) {
	for name, change := range map[string]func(escrow map[string]any){
		"another id":     func(d map[string]any) { d["id"] = "esc_another" },
		"another amount": func(d map[string]any) { d["amount"] = "1" },
		"another payee":  func(d map[string]any) { d["payee"] = "0x8617E340B3D01FA5F11F306F4090FD50E238070D" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newEscrowWorld(t)
				w.Host.Arm("POST", confirmActionPath, sandbox.DropBefore().Times(100))
				w.onSuccess("POST", syncPath, both(change, func(escrow map[string]any) { escrow["status"] = "active" }))
				_, err := w.open(journaled())
				as[*errors.InDoubt](t, err)
				assert.Zero(t, w.holdings())
			})
		})
	}
}

func assertEscrowInDoubt(t *testing.T, err error) {
	t.Helper()
	assertKeyInDoubt(t, err, "escrow-1", "call again with the same key and terms")
}

// loseConfirms loses the responses to a confirm, and refuses the reads right after it.
func (w *escrowWorld) loseConfirms() {
	w.Host.Arm("POST", confirmActionPath, sandbox.DropAfterCommit().Times(4))
	w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
}

// The money of an escrow is held, and the first call was told that nothing is known. What the second call meets speaks
// for that call only.
func TestSecondCallOfAnEscrowInDoubt(t *testing.T) {
	for name, setback := range setbacks {
		for _, process := range []string{"the same client", "another process"} {
			t.Run(name+"/"+process, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newEscrowWorld(t)
					w.loseConfirms()
					_, err := w.open(journaled())
					assertEscrowInDoubt(t, err)
					require.Equal(t, 1, w.holdings())
					if process == "another process" {
						w.account = w.integrator().Self()
					}
					ctx, cancel := setback(w.payWorld)
					defer cancel()

					_, err = w.account.Escrows.Open(ctx, w.escrow, "escrow-1", dapi.EscrowTerms{})
					assertEscrowInDoubt(t, err)
					if ctx.Err() != nil {
						require.ErrorIs(t, err, ctx.Err())
					}
					time.Sleep(10 * time.Minute) // for a login that its caller left alone
				})
			})
		}
	}
}

// The refusal of a login says which escrow it is about, once there is one.
func TestLoginRefusalOfAnEscrow(t *testing.T) {
	w := newEscrowWorld(t)
	w.Host.Arm("POST", confirmActionPath, sandbox.ExpireToken())
	w.Host.Arm("POST", "/auth/**", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
	opened, err := w.open(journaled())
	as[*errors.Forbidden](t, err)
	head, _ := errors.CallInfoOf(err)
	assert.Equal(t, string(opened.Escrow.ID), head.Resource)
	assert.Equal(t, "escrow-1", head.IdempotencyKey)
}

// A second call that reaches the service finds the escrow, and the money is held once.
func TestSecondCallSettlesAnEscrowInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEscrowWorld(t)
		w.loseConfirms()
		first, err := w.open()
		assertEscrowInDoubt(t, err)
		opened, err := w.open()
		require.NoError(t, err)
		assert.Equal(t, first.Escrow.ID, opened.Escrow.ID)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
		assert.Equal(t, 1, w.holdings())

		w.Host.Arm("", "/**", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		_, err = w.open(journaled())
		assertEscrowInDoubt(t, err) // for the money is held, whatever the caller says
	})
}

// escrowRefusals refuse an escrow plainly, each at another step.
var escrowRefusals = map[string]struct {
	arrange func(w *escrowWorld)
	code    errors.Code
}{
	"at its creation": {func(w *escrowWorld) {
		w.Host.Arm("POST", escrowPath, sandbox.Respond(http.StatusConflict, "wallet_not_linked"))
	}, errors.CodeWalletNotLinked},
	"at its creation, for its rate": {func(w *escrowWorld) {
		w.Host.Arm("POST", escrowPath, sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
			WithHeader("Retry-After", "3600"))
	}, errors.CodeRateLimited},
	"at the confirm": {func(w *escrowWorld) {
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusForbidden, "signing_policy_refused"))
	}, errors.CodeSigningPolicyRefused},
	"at the confirm, for the balance": {
		func(w *escrowWorld) { w.escrow.Amount = amount("100.01") }, errors.CodeConflict,
	},
}

// A stated first use that was plainly refused holds nothing, and keeps the type of its refusal.
func TestARefusedEscrowIsUnpaid(t *testing.T) {
	for name, c := range escrowRefusals {
		t.Run(name, func(t *testing.T) {
			w := newEscrowWorld(t)
			c.arrange(w)
			for range 2 { // the second first use is one as well: nothing came of the first
				opened, err := w.open(journaled())
				assert.True(t, errors.HasCode(err, c.code), "%v", err)
				_, inDoubt := errors.AsType[*errors.InDoubt](err)
				assert.False(t, inDoubt, "%v", err)
				head, _ := errors.CallInfoOf(err)
				assert.Equal(t, "escrow-1", head.IdempotencyKey)
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
			w := newEscrowWorld(t)
			c.arrange(w)
			_, err := w.open()
			assertEscrowInDoubt(t, err) // an earlier call may have held the money
		})
	}
}

// An escrow that was created and not signed is taken up again, however the service says that it replays.
func TestUnsignedEscrowIsNotInDoubt(t *testing.T) {
	for name, change := range map[string]func(r *http.Request, response *http.Response){
		"the service says that it replays": nil,
		"the service says so by 200 alone": func(_ *http.Request, response *http.Response) {
			response.Header.Del("Idempotency-Replayed")
		},
		"the service says so by its header alone": func(_ *http.Request, response *http.Response) {
			if response.StatusCode == http.StatusOK {
				response.StatusCode = http.StatusCreated
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEscrowWorld(t)
			_, err := w.account.Escrows.Create(t.Context(), w.escrow, moneymovement.IdempotencyKey("escrow-1"))
			require.NoError(t, err)
			w.account = w.integrator().Self()
			if change != nil {
				w.Wire.OnResponse(change)
			}
			w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusForbidden, "signing_policy_refused"))
			refused, err := w.open(journaled())
			as[*errors.SigningPolicyRefused](t, err)
			assert.True(t, refused.Unpaid)
			assert.Equal(t, moneymovement.PaymentNeedsDecision, refused.State)
		})
	}
}

// What is in doubt is so for one account and one operation: the same key serves a payment, another account's escrow,
// and an escrow's action.
func TestDoubtIsScopedToAccountAndOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEscrowWorld(t)
		integrator := w.integrator()
		w.account = integrator.Self()
		w.loseConfirms()
		_, err := w.open(journaled())
		assertEscrowInDoubt(t, err)

		w.Host.Arm("", "/**", sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		_, err = w.open(journaled())
		assertEscrowInDoubt(t, err)
		_, err = w.account.Payouts.Pay(t.Context(), w.asked, "escrow-1", payTerms(journaled()))
		as[*errors.Forbidden](t, err)
		_, err = integrator.For("cl_1").Escrows.Open(t.Context(), w.escrow, "escrow-1", escrowTerms(journaled()))
		as[*errors.Forbidden](t, err)
		_, err = w.account.Escrows.Act(t.Context(), w.escrow, "esc_1", dapi.EscrowActionTypeRelease, "escrow-1",
			escrowTerms(journaled()))
		as[*errors.Forbidden](t, err)
	})
}

// A key that the service may have forgotten holds nothing: the same call would be a new escrow.
//
// Rule: idempotency.derived
func TestEscrowsKeyThatIsTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEscrowWorld(t)
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

// A key can grow too old while its escrow waits for its turn.
func TestEscrowKeyThatExpiresInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEscrowWorld(t)
		w.escrow.Amount = amount("1")
		release := make(chan struct{})
		w.Key.BeforeApproval(func(int) { <-release })
		var line sync.WaitGroup
		for i := range 6 { // as many as may be under way
			line.Go(func() {
				_, _ = w.account.Escrows.Open(t.Context(), w.escrow, moneymovement.DeriveKey("ahead", strconv.Itoa(i)),
					dapi.EscrowTerms{})
			})
		}
		synctest.Wait()
		line.Go(func() {
			_, err := w.open(firstUsedAt(time.Now().Add(-7*24*time.Hour + 90*time.Minute)))
			as[*dapi.KeyTooOld](t, refusalIn(err))
			assert.Equal(t, "escrow-1", as[*dapi.KeyTooOld](t, refusalIn(err)).IdempotencyKey)
		})
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.account.Escrows.Open(short, w.escrow, "escrow-3",
			escrowTerms(firstUsedAt(time.Now().Add(-7*24*time.Hour))))
		as[*dapi.KeyTooOld](t, refusalIn(err)) // at once, for it is too old already
		_, err = w.account.Escrows.Open(short, w.escrow, "escrow-2", escrowTerms(journaled()))
		assert.Equal(t, errors.CallInfo{Operation: "CreateEscrow", IdempotencyKey: "escrow-2"},
			as[*errors.NotDelivered](t, err).CallInfo)
		_, err = w.account.Escrows.Act(short, w.escrow, "esc_1", dapi.EscrowActionTypeRelease, "release-1",
			escrowTerms(journaled()))
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

// The service's clock counts as well: here it is moved, and nothing tells before the escrow that it makes anew.
func TestEscrowsKeyThatIsTooOldByTheServicesClock(t *testing.T) {
	w := newEscrowWorld(t)
	first := time.Now()
	_, err := w.open(firstUsedAt(first))
	require.NoError(t, err)
	w.Host.Advance(8 * 24 * time.Hour)
	w.account = w.integrator().Self()
	_, err = w.open(firstUsedAt(first))
	assert.Equal(t, "CreateEscrow", as[*dapi.KeyTooOld](t, refusalIn(err)).Operation)
	assert.Equal(t, 1, w.holdings(), "the second is not signed")
}

// A key that belongs to other terms did nothing for these, and repeating the call does not help.
func TestEscrowsKeyOfOtherTerms(t *testing.T) {
	for name, sameClient := range map[string]bool{"the same client": true, "another process": false} {
		t.Run(name, func(t *testing.T) {
			w := newEscrowWorld(t)
			first, err := w.open()
			require.NoError(t, err)
			if !sameClient {
				w.account = w.integrator().Self()
			}
			w.escrow.Amount = amount("41")
			_, err = w.open()
			assert.Equal(t, string(first.Escrow.ID), as[*errors.IdempotencyKeyReused](t, refusalIn(err)).EscrowID)
			assert.Equal(t, 1, w.holdings())
		})
	}
}

// The escrow's own end settles a doubt: one that expired never held money.
func TestEscrowInDoubtThatExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEscrowWorld(t)
		w.Host.Arm("POST", confirmActionPath, sandbox.DropBefore().Times(100))
		w.Host.Arm("POST", syncPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(100))
		_, err := w.open()
		assertEscrowInDoubt(t, err)
		w.onSuccess("POST", escrowPath, func(escrow map[string]any) { escrow["status"] = "expired" })
		_, err = w.open()
		assert.Equal(t, errors.NotMoved, as[*dapi.EscrowNotOpened](t, err).MovedByCall())
		assert.ErrorContains(t, err,
			" expired before it was approved, so it never held money; to open an escrow, use a new key")
	})
}

// Two calls with one key at once: the refusal of one says nothing about the escrow, whose money the other may be
// holding.
func TestRefusalBesideAnotherOpenWithTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEscrowWorld(t)
		w.Host.Arm("POST", escrowPath, sandbox.Delay(10*time.Second))
		w.Host.Arm("POST", escrowPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
		slow, _, err := atOnce(func() (dapi.EscrowResult, error) { return w.open(journaled()) })
		assertEscrowInDoubt(t, err)
		require.NoError(t, slow)
		assert.Equal(t, 1, w.holdings())
	})
}

// The other call can be the one that began later.
func TestRefusalOfAnEscrowThatAnotherCallMayHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEscrowWorld(t)
		w.Host.Arm("POST", escrowPath, sandbox.Delay(30*time.Second))
		w.loseConfirms()
		w.Host.Arm("POST", confirmActionPath, sandbox.Respond(http.StatusForbidden, "signing_policy_refused"))
		slow, _, err := atOnce(func() (dapi.EscrowResult, error) { return w.open(journaled()) })
		assertEscrowInDoubt(t, err)
		assertEscrowInDoubt(t, slow)
		assert.Equal(t, 1, w.holdings())
	})
}

// Before the confirm, nothing is signed, which only a journal proves over calls. Without one, a plain refusal of the
// second call settles nothing.
func TestEscrowsThatFailBeforeTheirConfirm(t *testing.T) {
	for name, arrange := range map[string]func(w *escrowWorld){
		"the creation is lost": func(w *escrowWorld) { w.Host.Arm("POST", escrowPath, sandbox.DropBefore().Times(4)) },
		"the escrow is of another key": func(w *escrowWorld) {
			w.onSuccess("POST", escrowPath, func(escrow map[string]any) { escrow["idempotencyKey"] = "escrow-2" })
		},
		"the action is of another key": func(w *escrowWorld) {
			w.onSuccess("POST", escrowPath, func(escrow map[string]any) {
				escrow["action"].(map[string]any)["idempotencyKey"] = "escrow-2"
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newEscrowWorld(t)
				arrange(w)
				opened, err := w.open(journaled())
				require.Error(t, err)
				assert.Equal(t, moneymovement.PaymentNotPaid, opened.State)
				assert.True(t, opened.Unpaid)
				w = newEscrowWorld(t)
				arrange(w)
				_, err = w.open()
				assertEscrowInDoubt(t, err)
				w.Host.Arm("POST", escrowPath, sandbox.Respond(http.StatusForbidden, "forbidden"))
				_, err = w.open(journaled())
				assertEscrowInDoubt(t, err)
				assert.Zero(t, w.holdings())
			})
		})
	}
}

// A signer that panics ends its call, as for a payment: what came of it is in doubt.
func TestSignerThatPanicsOverAnEscrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newEscrowWorld(t)
		panics := func(call func()) {
			w.Key.BeforeApproval(func(int) { panic("signer") })
			assert.Panics(t, call)
			w.Key.BeforeApproval(nil)
		}
		panics(func() { _, _ = w.open() })
		w.Host.Arm("POST", escrowPath, sandbox.Respond(http.StatusForbidden, "forbidden").Times(2))
		_, err := w.open(journaled())
		assertEscrowInDoubt(t, err)
		time.Sleep(8 * 24 * time.Hour)
		_, err = w.open(journaled())
		assertEscrowInDoubt(t, err)
	})
	synctest.Test(t, func(t *testing.T) {
		w, id := newReleaseWorld(t)
		w.Key.BeforeApproval(func(int) { panic("signer") })
		assert.Panics(t, func() { _, _ = w.release(t.Context(), id) })
		w.Key.BeforeApproval(nil)
		time.Sleep(8 * 24 * time.Hour)
		w.Host.Arm("POST", "/escrow/*/actions", sandbox.Respond(http.StatusForbidden, "forbidden"))
		_, err := w.release(t.Context(), id)
		assertKeyInDoubt(t, err, "release-1", "call again with the same key and terms")
	})
}
