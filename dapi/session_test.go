package dapi_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// read makes a call that needs a session.
func read(ctx context.Context, account *dapi.Account) error {
	_, err := account.Chains.List(ctx, dapi.ListChainsParams{})
	return err
}

// A token that lives for less than the usual time ahead is renewed in the last quarter of its life, and not by each
// call.
func TestTokensThatLiveShortlyAreNotRenewedByEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		host.tokenLives = 40 * time.Second
		host.payouts["po_1"] = &busyPayout{id: "po_1", contact: "ct_bob", amount: "1"}
		account := host.integrator(t).Self()
		began := time.Now()
		for time.Since(began) < 10*time.Minute {
			_, err := account.Payouts.Get(t.Context(), "po_1")
			require.NoError(t, err)
			time.Sleep(time.Second)
		}
		assert.LessOrEqual(t, host.counts().refreshes, 20)
		assert.GreaterOrEqual(t, host.counts().refreshes, 15)
		assert.Zero(t, host.counts().expired)
	})
}

// The window is full and a thousand writes wait, when the token expires: its renewal goes first, and nothing is sent
// without a token that works.
func TestARefreshGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		host.tokenLives = 2*time.Minute + 10*time.Second
		account := host.integrator(t).Self()
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				_, err := account.Payouts.Book(t.Context(), payoutOf(i),
					moneymovement.IdempotencyKey(moneymovement.Key(fmt.Sprint(i))))
				assert.NoError(t, err)
			})
		}
		all.Wait()
		assert.Positive(t, host.counts().refreshes)
		assert.Zero(t, host.counts().expired)
		assert.Zero(t, host.counts().limited)
		assert.Equal(t, 1, host.counts().logins)
	})
}

// A service that takes the old token back when it grants a new one refuses the calls that are on their way. They are
// sent again, and payments whose confirm then comes too late are booked anew.
func TestPaymentsOutliveTokensThatAreTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		host.tokenLives, host.takesBack = 5*time.Minute, true
		account := host.integrator(t).Self()
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() { payOne(t, account, i) })
		}
		all.Wait()
		assert.Equal(t, 1000, host.counts().paid)
		assert.Positive(t, host.counts().expired, "the test has met what it is about")
		assert.Zero(t, host.counts().limited)
	})
}
