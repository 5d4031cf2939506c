package dapi

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
)

func keyOf(i int) paymentKey { return paymentKey{"self", "BookPayout", strconv.Itoa(i)} }

func (m *paymentMemory) pay(t *testing.T, key paymentKey, firstUse bool, came fate) doubt {
	t.Helper()
	attempt, left, err := m.begin(key, firstUse)
	require.NoError(t, err)
	attempt.end(came)
	return left
}

func TestDoubtsAreKeptUntilTheyAreSettled(t *testing.T) {
	m := newPaymentMemory()
	assert.Equal(t, noDoubt, m.pay(t, keyOf(1), true, maybe))
	assert.Equal(t, knownDoubt, m.pay(t, keyOf(1), true, maybe), "a doubt outweighs what the caller says")
	for _, other := range []paymentKey{{"cl_1", "BookPayout", "1"}, {"self", "CreateEscrow", "1"},
		{"self", "BookPayout", "2"}} {
		assert.Equal(t, noDoubt, m.pay(t, other, true, nothing), "another account, operation or key is another payment")
	}
	assert.Equal(t, knownDoubt, m.pay(t, keyOf(1), false, nothing), "a call that came to nothing settles nothing")
	assert.Equal(t, knownDoubt, m.pay(t, keyOf(1), false, over), "and one that paid does")
	assert.Equal(t, knownDoubt, m.pay(t, keyOf(1), true, nothing), "it is paid all the same, whatever is refused now")
	assert.Zero(t, m.doubts.Len())
}

func TestDoubtsAreForgottenWithTheirKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newPaymentMemory()
		m.pay(t, keyOf(1), true, maybe)
		time.Sleep(7 * 24 * time.Hour)
		assert.Equal(t, knownDoubt, m.pay(t, keyOf(1), true, maybe))
		time.Sleep(7*24*time.Hour + time.Second)
		assert.Equal(t, noDoubt, m.pay(t, keyOf(1), true, nothing))
		assert.Empty(t, m.doubts.Len())

		m.pay(t, keyOf(2), true, maybe)
		underway, left, err := m.begin(keyOf(2), true)
		require.NoError(t, err)
		assert.Equal(t, knownDoubt, left)
		time.Sleep(8 * 24 * time.Hour)
		assert.Equal(t, knownDoubt, m.pay(t, keyOf(2), true, nothing), "the doubt of a call that is still under way")
		underway.end(maybe)
	})
}

// A doubt is never forgotten to make room for another: new first uses are refused before anything is sent, and what is
// in doubt can be settled.
func TestTooManyDoubts(t *testing.T) {
	m := newPaymentMemory()
	assert.Equal(t, noDoubt, m.pay(t, keyOf(-1), true, nothing))
	underway, _, err := m.begin(keyOf(-2), true)
	require.NoError(t, err)
	for i := range maxDoubts {
		m.pay(t, keyOf(i), true, maybe)
	}
	_, _, err = m.begin(keyOf(-1), true)
	require.Error(t, err, "nothing came of its first call, so that this is a first use as any other")
	second, left, err := m.begin(keyOf(-2), true)
	require.NoError(t, err, "its first call is under way")
	assert.Equal(t, assumedDoubt, left)
	underway.end(nothing)
	second.end(nothing)
	_, _, err = m.begin(keyOf(maxDoubts), true)
	unsent, ok := errors.AsType[*errors.NotDelivered](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, errors.NotMoved, unsent.MovedByCall())
	assert.Contains(t, err.Error(), "100,000 payments")
	m.doubtful(keyOf(-3))
	assert.Equal(t, knownDoubt, m.pay(t, keyOf(-3), false, over), "a doubt that is there is kept all the same")
	assert.Equal(t, knownDoubt, m.pay(t, keyOf(1), true, maybe),
		"what is in doubt may be called again, whatever its caller says")
	assert.Equal(t, knownDoubt, m.pay(t, keyOf(0), false, over), "the oldest is still known, and settled now")
	assert.Equal(t, noDoubt, m.pay(t, keyOf(maxDoubts), true, maybe), "which makes room")
	assert.Equal(t, maxDoubts+4, len(m.known)) //nolint:testifylint // a map of that size is not to be printed
}

func TestPaymentsWithoutADoubtAreForgottenInTheEnd(t *testing.T) {
	m := newPaymentMemory()
	m.pay(t, keyOf(-1), true, maybe)
	underway, _, err := m.begin(keyOf(-2), true)
	require.NoError(t, err)
	for i := range 3 * maxRemembered {
		m.pay(t, keyOf(i), false, nothing)
	}
	assert.LessOrEqual(t, len(m.known), maxRemembered+2)
	assert.Equal(t, knownDoubt, m.pay(t, keyOf(-1), true, maybe), "a doubt is not forgotten")
	assert.False(t, underway.alone() && m.known[keyOf(-2)] == nil, "nor a call that is under way")
	assert.NotNil(t, m.known[keyOf(-2)])
}
