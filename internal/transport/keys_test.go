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
		{KeyMaybePaid, "first", KeyMaybePaid, "first"},
		{KeyUnpaid, nil, KeyMaybePaid, "first"},
		{KeySettled, "second", KeySettled, "second"},
		{KeyMaybePaid, nil, KeySettled, "second"},
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
func TestDoubtsAreKept(t *testing.T) {
	const kept = 20_000 // other keys
	m := NewKeys()
	m.Note(scopeOf("doubt"), KeyMaybePaid, nil)
	m.Note(scopeOf("another"), KeyMaybePaid, nil)
	for i := range kept + 1 {
		m.Note(scopeOf(fmt.Sprint(i)), KeySettled, nil)
	}
	state, _ := m.State(scopeOf("doubt"))
	assert.Equal(t, KeyMaybePaid, state)
	assert.Equal(t, 2, m.doubts.Len())
	assert.Equal(t, kept, m.plain.Len())
	assert.Nil(t, m.Get(scopeOf("0")), "the oldest")
	assert.NotNil(t, m.Get(scopeOf("1")))

	m.Note(scopeOf("doubt"), KeySettled, nil)
	assert.Equal(t, 1, m.doubts.Len())
	assert.Equal(t, kept, m.plain.Len())
	assert.Nil(t, m.Get(scopeOf("1")), "it made room")
	assert.Equal(t, "doubt", of(m.plain.Back()).Scope.Key)

	m.Use(scopeOf("used"))
	assert.Equal(t, kept, m.plain.Len())
	assert.Nil(t, m.Get(scopeOf("2")))
}

// What was used last is forgotten last.
func TestAKeyThatIsUsedAgainIsYoung(t *testing.T) {
	for _, came := range []KeyState{KeyMaybePaid, KeySettled} {
		m := NewKeys()
		for _, key := range []string{"a", "b", "a"} {
			m.Note(scopeOf(key), came, nil)
		}
		assert.Equal(t, "b", of(m.listOf(&UsedKey{State: came}).Front()).Scope.Key)
		assert.Equal(t, 2, m.listOf(&UsedKey{State: came}).Len())
	}
}

// There is room for another doubt as long as an old one can be forgotten: the service has forgotten its key, and no
// call with it is under way.
func TestRoomForDoubts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewKeys()
		note := func(key string) *UsedKey {
			m.Note(scopeOf(key), KeyMaybePaid, nil)
			return m.Get(scopeOf(key))
		}
		first, second := note("first"), note("second")
		others := &UsedKey{State: KeyMaybePaid, last: time.Now().Add(time.Second)}
		for range 100_000 - 3 {
			m.doubts.PushBack(others)
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
		assert.Equal(t, 99_999, m.doubts.Len())
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
	op := Operation{ID: "Act", Method: "POST", Path: "/deals/{dealId}/acts/{actId}", Repeat: RepeatKey}
	assert.Equal(t, KeyScope{"cl_1", "Act", "/deals/de_1/acts/ac_2", "k"}, KeyScopeOf(&op, "cl_1", "k", "de_1", "ac_2"))
	r := NewRequest(&op, "cl_1", Keyed("k"))
	r.PathParam("dealId", "de_1", Rule{})
	r.PathParam("actId", "ac_2", Rule{})
	assert.Equal(t, r.keyScope(), KeyScopeOf(&op, "cl_1", "k", "de_1", "ac_2"))
}

// A key that the service has forgotten begins anew: with new terms, a lifetime of its own and no owner.
func TestAForgottenKeyBeginsAnew(t *testing.T) {
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
