package transport

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
)

func keyed(key string) *Request {
	return NewRequest(&Operation{ID: "BookPayout", Method: "POST", Path: "/payouts", Repeat: RepeatKey}, "cl_1", Call{Key: key, KeySet: true})
}

func TestTermsOfAKey(t *testing.T) {
	refused := &errors.NotFound{Refusal: errors.Refusal{Code: errors.CodeNotFound, Status: 404}}
	lost := &errors.OutcomeUnknown{Head: errors.Head{IdempotencyKey: "k"}}
	for name, test := range map[string]struct {
		outcome error
		free    bool // for other terms afterwards
	}{
		"carried out":     {nil, false},
		"outcome unknown": {lost, false},
		"lost, then refused": {&errors.OutcomeUnknown{
			Head: errors.Head{IdempotencyKey: "k"}, Cause: &errors.Forbidden{
				Refusal: errors.Refusal{Code: errors.CodeForbidden, Status: 403},
			},
		}, false},
		"lost, then a proxy's refusal": {&errors.OutcomeUnknown{Head: errors.Head{IdempotencyKey: "k"}, Cause: &errors.UnexpectedAnswer{Status: 403}}, false},
		"refused":                      {refused, true},
		"not delivered":                {&errors.NotDelivered{}, true},
		"a foreign error":              {fmt.Errorf("no type of ours"), false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newTerms()
			over, err := m.claim(keyed("k"), []byte("25"))
			require.NoError(t, err)
			_, err = m.claim(keyed("k"), []byte("24"))
			require.Error(t, err, "while the first is under way")
			over(test.outcome)
			_, err = m.claim(keyed("k"), []byte("24"))
			assert.Equal(t, test.free, err == nil)
		})
	}
}

func TestTermsOfARefusedRepeatStayWithTheFirst(t *testing.T) {
	m := newTerms()
	over, err := m.claim(keyed("k"), []byte("25"))
	require.NoError(t, err)
	over(nil)
	over, err = m.claim(keyed("k"), []byte("25"))
	require.NoError(t, err)
	over(&errors.NotDelivered{})
	_, err = m.claim(keyed("k"), []byte("24"))
	assert.Error(t, err)
}

func TestTermsAreBounded(t *testing.T) {
	m := newTerms()
	for i := range 3 * maxTerms {
		over, err := m.claim(keyed(fmt.Sprint(i)), []byte("25"))
		require.NoError(t, err)
		if i%2 == 0 {
			over(nil)
		} else {
			over(&errors.NotDelivered{})
		}
	}
	assert.LessOrEqual(t, len(m.sent), maxTerms)
	assert.LessOrEqual(t, len(m.order), maxTerms)
	_, err := m.claim(keyed(fmt.Sprint(3*maxTerms-2)), []byte("24"))
	assert.Error(t, err, "the latest are remembered")
}

// A key that was refused, corrected and then carried out counts from then on, and not from its first try.
func TestTermsAreForgottenOldestFirst(t *testing.T) {
	m := newTerms()
	claim := func(key string, outcome error) {
		over, err := m.claim(keyed(key), []byte("25"))
		require.NoError(t, err)
		over(outcome)
	}
	claim("corrected", &errors.NotDelivered{})
	for i := range maxTerms - 2 {
		claim(fmt.Sprint(i), nil)
	}
	claim("corrected", nil)
	claim("one more", nil)
	_, err := m.claim(keyed("corrected"), []byte("24"))
	assert.Error(t, err)
}

// What is under way is neither forgotten for newer keys nor over its lifetime.
func TestTermsUnderWayAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newTerms()
		over, err := m.claim(keyed("long"), []byte("25"))
		require.NoError(t, err)
		for i := range maxTerms + 1 {
			done, err := m.claim(keyed(fmt.Sprint(i)), []byte("25"))
			require.NoError(t, err)
			done(nil)
		}
		time.Sleep(termsLifetime + time.Second)
		_, err = m.claim(keyed("long"), []byte("24"))
		require.Error(t, err)
		over(&errors.NotDelivered{})
		_, err = m.claim(keyed("long"), []byte("24"))
		assert.NoError(t, err)
	})
}

// Rule: idempotency.lifetimes
func TestTermsEndWithTheKeysLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newTerms()
		over, err := m.claim(keyed("k"), []byte("25"))
		require.NoError(t, err)
		over(nil)
		time.Sleep(termsLifetime + time.Second)
		_, err = m.claim(keyed("k"), []byte("24"))
		assert.NoError(t, err)
	})
}

func TestOnlyExplicitKeysThatAnchorAreRemembered(t *testing.T) {
	m := newTerms()
	fresh := keyed("k")
	fresh.call.KeySet = false
	natural := NewRequest(&Operation{ID: "CreateClient", Method: "POST", Path: "/clients", Repeat: RepeatNatural}, "", Call{Key: "k", KeySet: true})
	for _, r := range []*Request{fresh, natural} {
		over, err := m.claim(r, []byte("25"))
		require.NoError(t, err)
		over(nil)
		_, err = m.claim(r, []byte("24"))
		assert.NoError(t, err)
	}
	assert.Empty(t, m.sent)
}
