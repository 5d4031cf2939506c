package transport

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

var bookPayout = Operation{
	ID: "BookPayout", Method: "POST", Path: "/payouts", Repeat: RepeatKey, Owner: "payoutId",
	Terms: []wire.Term{{Name: "amount", Format: wire.TermDecimal}},
}

func keyed(key string) *Request {
	return NewRequest(&bookPayout, "cl_1", Keyed(key))
}

// asking is a body that asks for an amount.
func asking(amount string) []byte { return []byte(`{"amount":"` + amount + `"}`) }

// booked is a response.
type booked struct {
	ID string `json:"id"`
}

func TestTermsOfAKey(t *testing.T) {
	refused := &errors.NotFound{Refusal: errors.Refusal{Code: errors.CodeNotFound, Status: 404}}
	lost := &errors.InDoubt{CallInfo: errors.CallInfo{IdempotencyKey: "k"}}
	for name, test := range map[string]struct {
		outcome error
		free    bool // for other terms afterwards
	}{
		"carried out": {nil, false},
		"in doubt":    {lost, false},
		"lost, then refused": {&errors.InDoubt{
			CallInfo: errors.CallInfo{IdempotencyKey: "k"}, Cause: &errors.Forbidden{
				Refusal: errors.Refusal{Code: errors.CodeForbidden, Status: 403},
			},
		}, false},
		"lost, then a proxy's refusal": {&errors.InDoubt{CallInfo: errors.CallInfo{IdempotencyKey: "k"},
			Cause: &errors.UnexpectedResponse{Status: 403}}, false},
		"refused":         {refused, true},
		"not delivered":   {&errors.NotDelivered{}, true},
		"a foreign error": {fmt.Errorf("no type of ours"), false},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewKeys()
			over, err := m.claim(keyed("k"), asking("25"))
			require.NoError(t, err)
			_, err = m.claim(keyed("k"), asking("24"))
			require.Error(t, err, "while the first is under way")
			over(new(booked), test.outcome)
			_, err = m.claim(keyed("k"), asking("24"))
			assert.Equal(t, test.free, err == nil)
		})
	}
}

func TestTermsOfARefusedRepeatStayWithTheFirst(t *testing.T) {
	m := NewKeys()
	over, err := m.claim(keyed("k"), asking("25"))
	require.NoError(t, err)
	over(new(booked), nil)
	over, err = m.claim(keyed("k"), asking("25"))
	require.NoError(t, err)
	over(new(booked), &errors.NotDelivered{})
	_, err = m.claim(keyed("k"), asking("24"))
	assert.Error(t, err)
}

// The latest keys are remembered, and no more, so that the memory of a program does not grow for years.
func TestTheLatestKeysAreRemembered(t *testing.T) {
	m := NewKeys()
	claim := func(i int, amount string) error {
		over, err := m.claim(keyed(fmt.Sprint(i)), asking(amount))
		if err == nil {
			over(new(booked), nil)
		}
		return err
	}
	const keys = 2*maxCertain + 5_000
	for i := range keys {
		require.NoError(t, claim(i, "25"))
	}
	assert.Equal(t, 20_000, len(m.known)) //nolint:testifylint // a map of that size is not to be printed
	assert.Equal(t, maxCertain, m.certain.Len())
	require.Error(t, claim(keys-maxCertain, "24"), "the oldest that is remembered")
	assert.NoError(t, claim(keys-maxCertain-1, "24"), "the youngest that is forgotten")
}

func TestKeysOfRefusedCallsAreForgotten(t *testing.T) {
	m := NewKeys()
	for i := range 100 {
		over, err := m.claim(keyed(fmt.Sprint(i)), asking("25"))
		require.NoError(t, err)
		over(nil, &errors.NotDelivered{})
	}
	assert.Empty(t, m.known)
	assert.Zero(t, m.certain.Len())
}

// A body of usual length is kept, because it is compared quickly. Of a longer one, and of one with a secret, only
// digests are kept.
func TestNoSecretIsKeptWithAKey(t *testing.T) {
	telling := bookPayout
	telling.SecretRequest = true
	for name, tc := range map[string]struct {
		op     *Operation
		length int
		kept   bool
	}{
		"usual": {&bookPayout, 100, true}, "the longest": {&bookPayout, 224, true}, "longer": {&bookPayout, 225, false},
		"with a secret": {&telling, 100, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewKeys()
			r := NewRequest(tc.op, "cl_1", Keyed("k"))
			bodyOf := func(amount string) []byte {
				body := string(asking(amount))
				return []byte(body[:len(body)-1] + strings.Repeat(" ", tc.length-len(body)) + "}")
			}
			over, err := m.claim(r, bodyOf("25"))
			require.NoError(t, err)
			over(new(booked), nil)
			known := m.Get(r.keyScope())
			assert.Equal(t, tc.kept, strings.Contains(string(known.body[:]), "amount"))
			assert.Equal(t, tc.kept, known.digests == nil)
			_, err = m.claim(r, bodyOf("24"))
			require.Error(t, err)
			_, err = m.claim(r, asking("25.0"))
			assert.NoError(t, err)
		})
	}
}

// A key that was refused, corrected and then carried out counts from its last use, and not from its first.
func TestTermsAreForgottenOldestFirst(t *testing.T) {
	m := NewKeys()
	claim := func(key string, outcome error) {
		over, err := m.claim(keyed(key), asking("25"))
		require.NoError(t, err)
		over(new(booked), outcome)
	}
	claim("corrected", &errors.NotDelivered{})
	for i := range maxCertain - 1 {
		claim(fmt.Sprint(i), nil)
	}
	claim("corrected", nil)
	claim("one more", nil)
	_, err := m.claim(keyed("corrected"), asking("24"))
	assert.Error(t, err)
}

// A key that is repeated often pushes out no other key.
func TestARepeatedKeyIsRememberedOnce(t *testing.T) {
	m := NewKeys()
	claim := func(key string) {
		over, err := m.claim(keyed(key), asking("25"))
		require.NoError(t, err)
		over(new(booked), nil)
	}
	claim("first")
	for range maxCertain + 1 {
		claim("often")
	}
	_, err := m.claim(keyed("first"), asking("24"))
	assert.Error(t, err)
}

// A key is not free while one of its calls is under way.
func TestAKeyOfSeveralCallsUnderWay(t *testing.T) {
	m := NewKeys()
	var calls []func(any, error)
	for range 3 {
		over, err := m.claim(keyed("k"), asking("25"))
		require.NoError(t, err)
		calls = append(calls, over)
	}
	for i, over := range calls {
		_, err := m.claim(keyed("k"), asking("24"))
		require.Error(t, err, "%d are over", i)
		over(nil, &errors.NotDelivered{})
	}
	_, err := m.claim(keyed("k"), asking("24"))
	assert.NoError(t, err)
}

// A call under way is not forgotten, neither for newer keys nor after its lifetime. It does not prevent others from
// being forgotten.
func TestTermsUnderWayAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewKeys()
		claim := func(key string) func(any, error) {
			over, err := m.claim(keyed(key), asking("25"))
			require.NoError(t, err)
			return over
		}
		other := func(key string) error { _, err := m.claim(keyed(key), asking("24")); return err }

		first := claim("first")
		claim("again")(new(booked), nil)
		again := claim("again") // it went out before, and is under way once more
		for i := range 2 * maxCertain {
			claim(fmt.Sprint(i))(new(booked), nil)
		}
		assert.Equal(t, maxCertain, m.certain.Len())
		time.Sleep(7*24*time.Hour + time.Second)
		require.Error(t, other("first"))
		require.Error(t, other("again"))

		first(nil, &errors.NotDelivered{})
		assert.NoError(t, other("first"), "nothing came of it")
		again(new(booked), nil)
		for i := range maxCertain {
			claim(fmt.Sprint("later ", i))(new(booked), nil)
		}
		assert.NoError(t, other("again"), "it is forgotten in its turn")
	})
}

// Rule: idempotency.lifetimes
func TestTermsEndWithTheKeysLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewKeys()
		over, err := m.claim(keyed("k"), asking("25"))
		require.NoError(t, err)
		over(new(booked), nil)
		time.Sleep(7 * 24 * time.Hour)
		_, err = m.claim(keyed("k"), asking("24"))
		require.Error(t, err)
		time.Sleep(time.Second)
		_, err = m.claim(keyed("k"), asking("24"))
		assert.NoError(t, err)
	})
}

func TestOnlyExplicitKeysAreRemembered(t *testing.T) {
	m := NewKeys()
	fresh := keyed("k")
	fresh.call.Key = ""
	natural := NewRequest(&Operation{ID: "CreateClient", Method: "POST", Path: "/clients", Repeat: RepeatNatural}, "",
		Keyed("k"))
	for _, r := range []*Request{fresh, natural} {
		over, err := m.claim(r, asking("25"))
		require.NoError(t, err)
		over(new(booked), nil)
		_, err = m.claim(r, asking("24"))
		assert.NoError(t, err)
	}
	assert.Empty(t, m.known)
}

// A key's owner is the id in the response: the text with that name, and no other member.
func TestOwnerOfAKeyIsTheIDOfTheResponse(t *testing.T) {
	type named struct {
		Name  string `json:"name"`
		ID    string `json:"id"`
		Other string `json:"other"`
	}
	type numbered struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	list := []string{"po_1"}
	usual, long := "po_"+strings.Repeat("a", 37), "po_"+strings.Repeat("a", 38)
	for _, tc := range []struct {
		response any
		owner    string
	}{{&named{"Bob", "po_1", "x"}, "po_1"}, {&numbered{1, "Bob"}, ""}, {&list, ""}, {&booked{usual}, usual},
		{&booked{long}, long}, {&booked{strings.Repeat(long, 5)}, strings.Repeat(long, 5)}} {
		m := NewKeys()
		over, err := m.claim(keyed("k"), asking("25"))
		require.NoError(t, err)
		over(tc.response, nil)
		_, err = m.claim(keyed("k"), asking("24"))
		var reused *errors.IdempotencyKeyReused
		require.ErrorAs(t, err, &reused)
		assert.Equal(t, tc.owner, reused.PayoutID)
	}
	m := NewKeys()
	over, err := m.claim(keyed("k"), asking("25"))
	require.NoError(t, err)
	over(&booked{usual}, &errors.InDoubt{CallInfo: errors.CallInfo{IdempotencyKey: "k"}})
	_, err = m.claim(keyed("k"), asking("24"))
	var reused *errors.IdempotencyKeyReused
	require.ErrorAs(t, err, &reused)
	assert.Empty(t, reused.PayoutID, "a call that failed has no response")
}

// A response that echoes another key does not say what this key made.
func TestAResponseToAnotherCallIsNotRemembered(t *testing.T) {
	type echoing struct {
		ID             string `json:"id"`
		IdempotencyKey string `json:"idempotencyKey"`
	}
	for echo, want := range map[string]string{"k": "po_1", "": "po_1", "other": ""} {
		m := NewKeys()
		r := keyed("k")
		over, err := m.claim(r, asking("25"))
		require.NoError(t, err)
		over(&echoing{"po_1", echo}, nil)
		assert.Equal(t, want, m.Get(r.keyScope()).Resource, echo)
	}
}

// It is the error that the service returns for the same mistake.
func TestAReusedKeyNamesItsOwner(t *testing.T) {
	for owner, want := range map[string]errors.IdempotencyKeyReused{
		"payoutId": {PayoutID: "po_1"}, "escrowId": {EscrowID: "po_1"}, "": {},
	} {
		op := bookPayout
		op.Owner = owner
		m := NewKeys()
		r := NewRequest(&op, "cl_1", Keyed("k"))
		lost, err := m.claim(r, asking("25"))
		require.NoError(t, err)
		lost(nil, &errors.InDoubt{})
		nameless, err := m.claim(r, asking("25"))
		require.NoError(t, err)
		nameless(new(NoContent), nil)
		_, err = m.claim(r, asking("24"))
		var without *errors.IdempotencyKeyReused
		require.ErrorAs(t, err, &without)
		assert.Empty(t, without.PayoutID+without.EscrowID, "no response told it")
		over, err := m.claim(r, asking("25"))
		require.NoError(t, err)
		over(&booked{ID: "po_1"}, nil)
		_, err = m.claim(r, asking("24"))
		var reused *errors.IdempotencyKeyReused
		require.ErrorAs(t, err, &reused)
		assert.Equal(t, want.PayoutID, reused.PayoutID)
		assert.Equal(t, want.EscrowID, reused.EscrowID)
		assert.Equal(t, errors.CodeIdempotencyKeyReused, reused.Code)
		assert.Equal(t, "k", reused.IdempotencyKey)
		assert.Zero(t, reused.Status)
		assert.Equal(t, errors.NotMoved, reused.MovedByCall())
		assert.False(t, reused.Retryable())
		assert.Contains(t, reused.Error(),
			"this client has sent the key with other terms (amount), so this request was not sent")
	}
}

func scopeOf(key string) KeyScope { return KeyScope{Operation: "BookPayout", Key: key} }

// The state of a payment only rises. A call that shows nothing of the payment changes nothing of what is known.
func TestTheStateOfAPayment(t *testing.T) {
	m := NewKeys()
	for i, tc := range []struct {
		came        KeyState
		payment     any
		state       KeyState
		wantPayment any
	}{
		{KeyInDoubt, "first", KeyInDoubt, "first"},
		{KeyUnpaid, nil, KeyInDoubt, "first"},
		{KeySettled, "second", KeySettled, "second"},
		{KeyInDoubt, nil, KeySettled, "second"},
	} {
		m.Note(scopeOf("k"), tc.came, tc.payment)
		state, payment := m.State(scopeOf("k"))
		assert.Equal(t, tc.state, state, i)
		assert.Equal(t, tc.wantPayment, payment, i)
		require.True(t, m.TryLock(), "it is not locked")
		m.Unlock()
	}
	for _, memory := range []*Keys{m, NewKeys(), nil} {
		state, payment := memory.State(scopeOf("another"))
		assert.Equal(t, KeyUnpaid, state)
		assert.Nil(t, payment)
	}
	assert.Nil(t, (*Client)(nil).Keys())
	assert.Same(t, m, (&Client{keys: m}).Keys())
}

// Doubts are kept however many other keys come. When they are settled, they are forgotten in their turn.
func TestKeysInDoubtAreKept(t *testing.T) {
	const kept = 20_000 // other keys
	m := NewKeys()
	m.Note(scopeOf("doubt"), KeyInDoubt, nil)
	m.Note(scopeOf("another"), KeyInDoubt, nil)
	for i := range kept + 1 {
		m.Note(scopeOf(fmt.Sprint(i)), KeySettled, nil)
	}
	state, _ := m.State(scopeOf("doubt"))
	assert.Equal(t, KeyInDoubt, state)
	assert.Equal(t, 2, m.inDoubt.Len())
	assert.Equal(t, kept, m.certain.Len())
	assert.Nil(t, m.Get(scopeOf("0")), "the oldest")
	assert.NotNil(t, m.Get(scopeOf("1")))

	m.Note(scopeOf("doubt"), KeySettled, nil)
	assert.Equal(t, 1, m.inDoubt.Len())
	assert.Equal(t, kept, m.certain.Len())
	assert.Nil(t, m.Get(scopeOf("1")), "it made room")
	assert.Equal(t, "doubt", keyAt(m.certain.Back()).Scope.Key)

	m.Use(scopeOf("used"))
	assert.Equal(t, kept, m.certain.Len())
	assert.Nil(t, m.Get(scopeOf("2")))
}

// What was used last is forgotten last.
func TestUsedKeyIsForgottenLast(t *testing.T) {
	for _, came := range []KeyState{KeyInDoubt, KeySettled} {
		m := NewKeys()
		for _, key := range []string{"a", "b", "a"} {
			m.Note(scopeOf(key), came, nil)
		}
		assert.Equal(t, "b", keyAt(m.listOf(&UsedKey{State: came}).Front()).Scope.Key)
		assert.Equal(t, 2, m.listOf(&UsedKey{State: came}).Len())
	}
}

// Another key in doubt is kept as long as an old one can be forgotten: the service has forgotten its key, and no
// call with it is under way.
func TestKeysInDoubtAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewKeys()
		note := func(key string) *UsedKey {
			m.Note(scopeOf(key), KeyInDoubt, nil)
			return m.Get(scopeOf(key))
		}
		first, second := note("first"), note("second")
		others := &UsedKey{State: KeyInDoubt, last: time.Now().Add(time.Second)}
		for range 100_000 - 3 {
			m.inDoubt.PushBack(others)
		}
		assert.False(t, m.Full())
		note("last")
		assert.True(t, m.Full())
		time.Sleep(7 * 24 * time.Hour)
		assert.True(t, m.Full(), "the service knows the first key until then")
		assert.Same(t, first, m.Get(scopeOf("first")))
		time.Sleep(time.Nanosecond)
		first.Flows = 1
		assert.True(t, m.Full(), "a flow has it")
		first.Flows = 0
		assert.False(t, m.Full())
		assert.Nil(t, m.Get(scopeOf("first")), "one is enough")
		assert.Same(t, second, m.Get(scopeOf("second")))
		assert.Equal(t, 99_999, m.inDoubt.Len())
		note("one more")
		note("another")
		assert.True(t, m.Full(), "the second makes room for one")
		assert.Nil(t, m.Get(scopeOf("second")))
	})
}

// A key that a flow has is kept, even if nothing came of it yet.
func TestAKeyOfAFlowIsKept(t *testing.T) {
	m := NewKeys()
	known := m.Use(scopeOf("k"))
	known.Flows = 1
	m.End(known, KeyUnpaid)
	assert.Same(t, known, m.Get(scopeOf("k")))
	known.Flows = 0
	m.End(known, KeyUnpaid)
	assert.Nil(t, m.Get(scopeOf("k")))
}

// A flow can correct the terms of a key after a refusal that did nothing.
func TestAFlowCorrectsTheTermsOfItsKey(t *testing.T) {
	for name, length := range map[string]int{"kept": 0, "as digests": keptBody} {
		t.Run(name, func(t *testing.T) {
			m := NewKeys()
			m.Use(keyed("k").keyScope()).Flows = 1
			body := func(amount string) []byte { return append(asking(amount), strings.Repeat(" ", length)...) }
			over, err := m.claim(keyed("k"), body("25"))
			require.NoError(t, err)
			over(nil, &errors.NotDelivered{})
			over, err = m.claim(keyed("k"), body("24"))
			require.NoError(t, err)
			over(&booked{"po_1"}, nil)
			_, err = m.claim(keyed("k"), body("25"))
			require.Error(t, err)
		})
	}
}

// The scope of a key has the path with its parameters.
func TestTheScopeOfAKeyOfAnOperation(t *testing.T) {
	op := Operation{ID: "Act", Method: "POST", Path: "/escrows/{escrowId}/acts/{actId}", Repeat: RepeatKey}
	assert.Equal(t, KeyScope{"cl_1", "Act", "/escrows/esc_1/acts/ac_2", "k"},
		KeyScopeOf(&op, "cl_1", "k", "esc_1", "ac_2"))
	r := NewRequest(&op, "cl_1", Keyed("k"))
	r.PathParam("escrowId", "esc_1", Rule{})
	r.PathParam("actId", "ac_2", Rule{})
	assert.Equal(t, r.keyScope(), KeyScopeOf(&op, "cl_1", "k", "esc_1", "ac_2"))
}

// A key that the service has forgotten begins anew: with new terms, a lifetime of its own and no owner.
func TestExpiredKeyTakesNewTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewKeys()
		over, err := m.claim(keyed("k"), asking("25"))
		require.NoError(t, err)
		over(&booked{"po_1"}, nil)
		time.Sleep(keyLifetime + 1)
		over, err = m.claim(keyed("k"), asking("24"))
		require.NoError(t, err)
		again, err := m.claim(keyed("k"), asking("24"))
		require.NoError(t, err)
		_, err = m.claim(keyed("k"), asking("25"))
		var reused *errors.IdempotencyKeyReused
		require.ErrorAs(t, err, &reused)
		assert.Empty(t, reused.PayoutID, "po_1 is of the forgotten key")
		over(nil, &errors.InDoubt{})
		again(nil, &errors.InDoubt{})
		time.Sleep(keyLifetime)
		_, err = m.claim(keyed("k"), asking("25"))
		require.Error(t, err, "the lifetime began with the second terms")
	})
}

// A response without an id does not take away the owner of a key.
func TestAResponseWithoutAnID(t *testing.T) {
	m := NewKeys()
	for _, id := range []string{"po_1", ""} {
		over, err := m.claim(keyed("k"), asking("25"))
		require.NoError(t, err)
		over(&booked{id}, nil)
		assert.Equal(t, "po_1", m.Get(keyed("k").keyScope()).Resource)
	}
}

// A request without a body differs from one that makes a choice.
func TestTheTermsOfAnEmptyBody(t *testing.T) {
	op := bookPayout
	op.Terms = []wire.Term{{Name: "amount", Format: wire.TermDecimal, Choice: true}}
	r := NewRequest(&op, "cl_1", Keyed("k"))
	long := append(asking("25"), strings.Repeat(" ", keptBody)...)
	for name, bodies := range map[string][2][]byte{
		"first": {nil, asking("25")}, "second": {asking("25"), nil}, "after a long one": {long, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewKeys()
			_, err := m.claim(r, bodies[0])
			require.NoError(t, err)
			_, err = m.claim(r, bodies[1])
			require.Error(t, err)
			_, err = m.claim(r, bodies[0])
			require.NoError(t, err)
		})
	}
}
