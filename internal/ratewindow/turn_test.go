package ratewindow_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// narrow is a window that takes one call in ten seconds and a sixth.
func narrow() *ratewindow.Limiter {
	return alone(windows{moneymovement.WindowWrites: {Calls: 1,
		Per: 10 * time.Second}})
}

const turn = 10*time.Second + 10*time.Second/60

func write(class moneymovement.RateClass, closes time.Time) moneymovement.RateCall {
	return moneymovement.RateCall{Window: moneymovement.WindowWrites, Class: class, Closes: closes}
}

// A confirm whose approval closes while it waits is told so, and takes no slot from those behind it.
func TestAConfirmThatClosesInLineTakesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, began := narrow(), time.Now()
		require.NoError(t, limiter.Wait(t.Context(), write(moneymovement.ClassWrite, time.Time{})))
		var line sync.WaitGroup
		line.Go(func() {
			err := limiter.Wait(t.Context(), write(moneymovement.ClassConfirm, began.Add(15*time.Second)))
			var tooLong *moneymovement.WindowFull
			assert.ErrorAs(t, err, &tooLong)
			assert.True(t, tooLong.Closed)
			assert.ErrorContains(t, err, "rate window writes has no room before the approval's window closes")
			assert.NotErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		line.Go(func() { // goes first, and so takes the confirm's slot
			assert.NoError(t, limiter.Wait(t.Context(), write(moneymovement.ClassRefresh, time.Time{})))
			assert.Equal(t, turn, time.Since(began))
		})
		synctest.Wait()
		line.Go(func() {
			assert.NoError(t, limiter.Wait(t.Context(), write(moneymovement.ClassWrite, time.Time{})))
			assert.Equal(t, 2*turn, time.Since(began))
		})
		line.Wait()
	})
}

// Nothing goes before a refresh, for without it nothing else can be sent, however long a confirm waits.
func TestRefreshesGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := narrow()
		require.NoError(t, limiter.Wait(t.Context(), write(moneymovement.ClassWrite, time.Time{})))
		var mu sync.Mutex
		var order []string
		var line sync.WaitGroup
		join := func(class moneymovement.RateClass) {
			line.Go(func() {
				assert.NoError(t, limiter.Wait(t.Context(), write(class, time.Time{})))
				mu.Lock()
				defer mu.Unlock()
				order = append(order, string(class))
			})
			synctest.Wait()
		}
		join(moneymovement.ClassConfirm)
		for range 12 {
			join(moneymovement.ClassRefresh)
		}
		line.Wait()
		assert.Equal(t, "confirm", order[12], "%v", order)
	})
}

// A wait that is too long for its caller says which window it is, and when there will be room.
func TestAWaitThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, began := narrow(), time.Now()
		require.NoError(t, limiter.Wait(t.Context(), write(moneymovement.ClassWrite, time.Time{})))
		ctx, cancel := context.WithTimeout(t.Context(), turn)
		defer cancel()
		err := limiter.Wait(ctx, write(moneymovement.ClassWrite, time.Time{}))
		var tooLong *moneymovement.WindowFull
		require.ErrorAs(t, err, &tooLong)
		assert.Equal(t, moneymovement.WindowFull{Window: moneymovement.WindowWrites, Until: began.Add(turn)}, *tooLong)
		require.ErrorContains(t, err, "rate window writes has no room before the deadline")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, time.Since(began), "it is told at once")

		longer, stop := context.WithTimeout(t.Context(), turn+1)
		defer stop()
		require.NoError(t, limiter.Wait(longer, write(moneymovement.ClassWrite, time.Time{})))
		assert.Equal(t, turn, time.Since(began))
	})
}
