package transport_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// narrow is a window that takes one call in ten seconds and a sixth.
func narrow() *transport.LocalLimiter {
	return transport.NewLocalLimiter(map[transport.Window]transport.Allowance{transport.WindowWrites: {Calls: 1,
		Per: 10 * time.Second}})
}

const turn = 10*time.Second + 10*time.Second/60

func write(class transport.RateClass, closes time.Time) transport.RateCall {
	return transport.RateCall{Window: transport.WindowWrites, Class: class, Closes: closes}
}

// A confirm whose approval closes while it waits is told so, and takes no slot from those behind it.
func TestAConfirmThatClosesInLineTakesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, began := narrow(), time.Now()
		require.NoError(t, limiter.Wait(t.Context(), write(transport.ClassWrite, time.Time{})))
		var line sync.WaitGroup
		line.Go(func() {
			err := limiter.Wait(t.Context(), write(transport.ClassConfirm, began.Add(15*time.Second)))
			var tooLong *transport.WaitTooLong
			assert.ErrorAs(t, err, &tooLong)
			assert.True(t, tooLong.Closed)
			assert.EqualError(t, err, "rate window writes has no room before the approval's window closes")
			assert.NotErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		line.Go(func() { // goes first, and so takes the confirm's slot
			assert.NoError(t, limiter.Wait(t.Context(), write(transport.ClassRefresh, time.Time{})))
			assert.Equal(t, turn, time.Since(began))
		})
		synctest.Wait()
		line.Go(func() {
			assert.NoError(t, limiter.Wait(t.Context(), write(transport.ClassWrite, time.Time{})))
			assert.Equal(t, 2*turn, time.Since(began))
		})
		line.Wait()
	})
}

// Nothing goes before a refresh, for without it nothing else can be sent, however long a confirm waits.
func TestRefreshesGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := narrow()
		require.NoError(t, limiter.Wait(t.Context(), write(transport.ClassWrite, time.Time{})))
		var mu sync.Mutex
		var order []string
		var line sync.WaitGroup
		join := func(class transport.RateClass) {
			line.Go(func() {
				assert.NoError(t, limiter.Wait(t.Context(), write(class, time.Time{})))
				mu.Lock()
				defer mu.Unlock()
				order = append(order, string(class))
			})
			synctest.Wait()
		}
		join(transport.ClassConfirm)
		for range 12 {
			join(transport.ClassRefresh)
		}
		line.Wait()
		assert.Equal(t, "confirm", order[12], "%v", order)
	})
}

// A wait that is too long for its caller says which window it is, and when there will be room.
func TestAWaitThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, began := narrow(), time.Now()
		require.NoError(t, limiter.Wait(t.Context(), write(transport.ClassWrite, time.Time{})))
		ctx, cancel := context.WithTimeout(t.Context(), turn)
		defer cancel()
		err := limiter.Wait(ctx, write(transport.ClassWrite, time.Time{}))
		var tooLong *transport.WaitTooLong
		require.ErrorAs(t, err, &tooLong)
		assert.Equal(t, transport.WaitTooLong{Window: transport.WindowWrites, Until: began.Add(turn)}, *tooLong)
		require.EqualError(t, err, "rate window writes has no room before the deadline")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, time.Since(began), "it is told at once")

		longer, stop := context.WithTimeout(t.Context(), turn+1)
		defer stop()
		require.NoError(t, limiter.Wait(longer, write(transport.ClassWrite, time.Time{})))
		assert.Equal(t, turn, time.Since(began))
	})
}
