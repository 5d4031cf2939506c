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

// await reads the statuses one after the other, and repeats the last one, until "done". An error in the list is
// returned in place of a status.
func await(client *transport.Client, reads ...any) transport.Awaited[string] {
	return transport.Awaited[string]{
		Client: client, Operation: &readThing, Resource: "thing", ID: "th_1",
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
		Status: func(status *string) string { return *status },
		Done:   func(status *string) bool { return *status == "done" },
	}
}

// steadily makes a wait read once a second, and notes what it reports.
func steadily(told *[]moneymovement.Progress) []moneymovement.WaitOption {
	return []moneymovement.WaitOption{
		moneymovement.PollEvery(time.Second, time.Second),
		moneymovement.OnProgress(func(p moneymovement.Progress) { *told = append(*told, p) }),
	}
}

// Progress is called after each successful read.
func TestWaitTellsWhatItReads(t *testing.T) {
	down := &errors.NotDelivered{CallInfo: errors.CallInfo{Operation: "Read"}, Err: errors.New("no connection")}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var told []moneymovement.Progress
		last, err := await(poller(t), "new", down, "open", "done").Wait(t.Context(), steadily(&told))
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
		var told []moneymovement.Progress
		last, err := await(poller(t), "new", broken).Wait(t.Context(), steadily(&told))
		assert.Equal(t, broken, err)
		assert.Equal(t, "new", *last)
		assert.Len(t, told, 1)
	})
}

func TestWaitThatItsContextEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		reads []any
		want  moneymovement.Progress
	}{
		"what was read last": {[]any{"new"}, moneymovement.Progress{Status: "new", Waited: time.Minute}},
		"nothing was read": {
			[]any{&errors.NotDelivered{Err: errors.New("no connection")}},
			moneymovement.Progress{Status: "unread", Waited: 4 * time.Second},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.want.Waited)
				defer cancel()
				var told []moneymovement.Progress
				last, err := await(poller(t), tc.reads...).Wait(ctx, steadily(&told))
				still, ok := errors.AsType[*moneymovement.StillPending](err)
				require.True(t, ok, "%v", err)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				tc.want.Reads = len(told)
				tc.want.Resource, tc.want.ID = "thing", "th_1"
				assert.Equal(t, tc.want, still.Progress)
				assert.Equal(t, len(told) > 0, last != nil)
			})
		})
	}
}

// If a read fails with a context's error while the wait's own context goes on, the wait has not ended by it.
func TestWaitThatSomethingElseEnds(t *testing.T) {
	var told []moneymovement.Progress
	_, err := await(poller(t), context.DeadlineExceeded).Wait(t.Context(), steadily(&told))
	assert.Equal(t, context.DeadlineExceeded, err)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	broken := errors.New("broken")
	_, err = await(poller(t), broken).Wait(ctx, steadily(&told))
	assert.Equal(t, broken, err, "the read failed, whatever the context did")
}

// A rate window without room before the deadline ends a wait like the deadline itself.
func TestWaitThatTheRateWindowEnds(t *testing.T) {
	var told []moneymovement.Progress
	late := &moneymovement.NoRoom{}
	_, err := await(poller(t), late).Wait(t.Context(), steadily(&told))
	require.True(t, errors.Is(err, late), "%v", err)
	still, ok := errors.AsType[*moneymovement.StillPending](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "unread", still.Status)
}

// Without a context or a client, the read refuses the call, and nothing else is called.
func TestWaitThatCannotBeMade(t *testing.T) {
	var without context.Context
	refused := errors.New("refused")
	var told []moneymovement.Progress
	_, err := await(poller(t), refused).Wait(without, steadily(&told))
	assert.Equal(t, refused, err)
	_, err = await(nil, refused).Wait(t.Context(), steadily(&told))
	assert.Equal(t, refused, err)
	assert.Empty(t, told)
}
