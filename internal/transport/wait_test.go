package transport_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// stillWaiting is the error of a wait that ended too early.
type stillWaiting struct {
	seen transport.Seen
	err  error
}

func (stillWaiting) Error() string   { return "still waiting" }
func (e stillWaiting) Unwrap() error { return e.err }

// await reads the statuses one after the other, and repeats the last one, until "done". An error in the list is
// returned in place of a status.
func await(told *[]transport.Seen, reads ...any) transport.Awaited[string] {
	return transport.Awaited[string]{
		Read: func(context.Context) (*string, error) {
			read := reads[0]
			if len(reads) > 1 {
				reads = reads[1:]
			}
			if err, failed := read.(error); failed {
				return nil, err
			}
			status, _ := read.(string)
			return &status, nil
		},
		Status:   func(status *string) string { return *status },
		Done:     func(status *string) bool { return *status == "done" },
		Progress: func(seen transport.Seen) { *told = append(*told, seen) },
		Still:    func(seen transport.Seen, err error) error { return stillWaiting{seen, err} },
	}
}

// steady is a pace whose pauses are within one second.
func steady() moneymovement.Pace { return moneymovement.Pace{Least: time.Second, Most: time.Second} }

// Progress is called after each successful read.
func TestWaitTellsWhatItReads(t *testing.T) {
	down := &errors.NotDelivered{CallInfo: errors.CallInfo{Operation: "Read"}, Err: errors.New("no connection")}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var told []transport.Seen
		last, err := transport.Wait(t.Context(), poller(t), steady(), await(&told, "new", down, "open", "done"))
		require.NoError(t, err)
		assert.Equal(t, "done", *last)
		require.Len(t, told, 3)
		for i, status := range []string{"new", "open", "done"} {
			assert.Equal(t, status, told[i].Status)
			assert.Equal(t, i+1, told[i].Reads)
		}
		assert.Zero(t, told[0].Waited)
		assert.GreaterOrEqual(t, told[1].Waited, time.Second, "after two pauses")
		assert.Equal(t, time.Since(began), told[2].Waited)
	})
}

// A permanent error is returned as it is, with the last value that was read.
func TestWaitEndsWithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		var told []transport.Seen
		last, err := transport.Wait(t.Context(), poller(t), steady(), await(&told, "new", broken))
		assert.Equal(t, broken, err)
		assert.Equal(t, "new", *last)
		assert.Len(t, told, 1)
	})
}

func TestWaitThatItsContextEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		reads []any
		want  transport.Seen
	}{
		"what was read last": {[]any{"new"}, transport.Seen{Status: "new", Waited: time.Minute}},
		"nothing was read": {
			[]any{&errors.NotDelivered{Err: errors.New("no connection")}},
			transport.Seen{Status: "unread", Waited: 4 * time.Second},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.want.Waited)
				defer cancel()
				var told []transport.Seen
				last, err := transport.Wait(ctx, poller(t), steady(), await(&told, tc.reads...))
				still, ok := errors.AsType[stillWaiting](err)
				require.True(t, ok, "%v", err)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				tc.want.Reads = len(told)
				assert.Equal(t, tc.want, still.seen)
				assert.Equal(t, len(told) > 0, last != nil)
			})
		})
	}
}

// If a read fails with a context's error while the wait's own context goes on, the wait has not ended by it.
func TestWaitThatSomethingElseEnds(t *testing.T) {
	var told []transport.Seen
	_, err := transport.Wait(t.Context(), poller(t), steady(), await(&told, context.DeadlineExceeded))
	assert.Equal(t, context.DeadlineExceeded, err)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	broken := errors.New("broken")
	_, err = transport.Wait(ctx, poller(t), steady(), await(&told, broken))
	assert.Equal(t, broken, err, "the read failed, whatever the context did")
}

// A rate window without room before the deadline ends a wait like the deadline itself.
func TestWaitThatTheRateWindowEnds(t *testing.T) {
	var told []transport.Seen
	late := &moneymovement.NoRoom{}
	_, err := transport.Wait(t.Context(), poller(t), steady(), await(&told, late))
	require.True(t, errors.Is(err, late), "%v", err)
	still, ok := errors.AsType[stillWaiting](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "unread", still.seen.Status)
}

// Without a context or a client, the read refuses the call, and nothing else is called.
func TestWaitThatCannotBeMade(t *testing.T) {
	var without context.Context
	refused := errors.New("refused")
	var told []transport.Seen
	_, err := transport.Wait(without, poller(t), steady(), await(&told, refused))
	assert.Equal(t, refused, err)
	_, err = transport.Wait(t.Context(), nil, steady(), await(&told, refused))
	assert.Equal(t, refused, err)
	assert.Empty(t, told)
}
