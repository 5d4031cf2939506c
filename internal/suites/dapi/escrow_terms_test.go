package dapi_test

import (
	"strings"
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

func (w *dealWorld) open(options ...dapi.OpenOption) (*dapi.Escrow, error) {
	opened, err := w.account.Escrows.Open(w.Context(), w.deal, "deal-1", options...)
	w.ended(err)
	return opened, err
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
			opened, err := w.open(dapi.FirstUse())
			if c.member == "" {
				require.NoError(t, err)
				assert.Equal(t, 1, w.holdings())
				return
			}
			differs := as[*dapi.TermsDiffer](t, err)
			assert.Equal(t, c.member, differs.Member)
			assert.Equal(t, errors.NotMoved, differs.MovedByCall())
			assert.Equal(t, errors.CallInfo{Operation: "CreateEscrow", Resource: string(opened.ID),
				IdempotencyKey: "deal-1"}, differs.CallInfo)
			w.assertNothingHeld(t)
		})
		t.Run(name+", and the deal is active", func(t *testing.T) {
			w := newDealWorld(t)
			w.onSuccess("POST", dealPath, both(c.change, func(deal map[string]any) {
				deal["status"] = "active"
				delete(deal, "action")
			}))
			_, err := w.open(dapi.FirstUse())
			assertDoubted(t, c.member, c.moves, err)
			w.assertNothingHeld(t)
		})
		t.Run(name+", in the answer to the confirm", func(t *testing.T) {
			w := newDealWorld(t)
			w.onSuccess("POST", confirmActionPath, c.change)
			w.Host.Arm("POST", syncPath, sandbox.Respond(403, "forbidden").Times(10))
			_, err := w.open(dapi.FirstUse())
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
	differs := as[*dapi.TermsDiffer](t, as[*errors.OutcomeUnknown](t, err).Cause)
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
			assert.Equal(t, dapi.EscrowStatusActive, opened.Status)
			assert.False(t, opened.RefundableUntil.IsZero())
		})
	}
	t.Run("the service ignores them", func(t *testing.T) {
		w := newDealWorld(t)
		w.onSuccess("POST", dealPath, later("holdUntil", time.Hour))
		w.deal.HoldFor = ""
		_, err := w.open(dapi.FirstUse())
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
			_, err := w.open(dapi.FirstUse())
			if c.member == "" {
				unknown := as[*errors.OutcomeUnknown](t, err)
				assert.Equal(t, "deal-1", unknown.IdempotencyKey)
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
			opened, err := w.open(dapi.FirstUse())
			if !strings.HasSuffix(name, "deal's key") {
				require.NoError(t, err, "the deal is of this key, and an action that is over needs none")
				assert.Equal(t, dapi.EscrowStatusActive, opened.Status)
				return
			}
			as[*errors.OutcomeUnknown](t, err)
		})
	}
	t.Run("other terms, and a status that nobody knows", func(t *testing.T) {
		w := newDealWorld(t)
		w.onSuccess("POST", dealPath, func(d map[string]any) { d["amount"], d["status"] = "400", "frozen" })
		_, err := w.open(dapi.FirstUse())
		assertDoubted(t, "amount", false, err)
		w.assertNothingHeld(t)
	})
	t.Run("other terms, and no status", func(t *testing.T) {
		w := newDealWorld(t)
		w.onSuccess("POST", dealPath, both(without("status"), func(d map[string]any) { d["amount"] = "400" }))
		_, err := w.open(dapi.FirstUse())
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
	t.Run("it is active, in a replay that offers its approval still", func(t *testing.T) {
		w := newDealWorld(t)
		_, err := w.account.Escrows.Create(t.Context(), w.deal, moneymovement.IdempotencyKey("deal-1"))
		require.NoError(t, err)
		w.account = w.integrator().Self()
		w.onSuccess("POST", dealPath, can("active", "approve"))
		_, err = w.open()
		require.NoError(t, err)
		w.assertNothingHeld(t)
	})
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
				_, err := w.open(dapi.FirstUse())
				as[*errors.OutcomeUnknown](t, err)
				assert.Zero(t, w.holdings())
			})
		})
	}
}
