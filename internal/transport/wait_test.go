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
func TestWaitReportsProgress(t *testing.T) {
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
	late := &moneymovement.WindowFull{}
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

func TestPollReadsUntilDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace, began := moneymovement.Pace{Least: time.Second, Most: 4 * time.Second}, time.Now()
		var at []time.Duration
		require.NoError(t, poller(t).Poll(t.Context(), pace, func(context.Context) (bool, error) {
			at = append(at, time.Since(began))
			return len(at) == 8, nil
		}))
		assert.Zero(t, at[0], "the first read is at once")
		bound := pace.Least
		for i := 1; i < len(at); i++ {
			assert.GreaterOrEqual(t, at[i]-at[i-1], bound/2)
			assert.LessOrEqual(t, at[i]-at[i-1], bound)
			bound = min(bound*3/2, pace.Most)
		}
		assert.Equal(t, pace.Most, bound)
	})
}

func TestPollEndsWithAnErrorOrItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		reads := 0
		err := poller(t).Poll(t.Context(), transport.DefaultPace, func(context.Context) (bool, error) {
			reads++
			return false, broken
		})
		require.ErrorIs(t, err, broken)
		assert.Equal(t, 1, reads)

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		err = poller(t).Poll(ctx, transport.DefaultPace, func(context.Context) (bool, error) { return false, nil })
		require.EqualError(t, err, "context deadline exceeded", "no read has failed")
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

func TestPollOutlastsAnOutage(t *testing.T) {
	down := &errors.NotDelivered{CallInfo: errors.CallInfo{Operation: "Read"}, Err: errors.New("no connection")}
	synctest.Test(t, func(t *testing.T) {
		reads, failing := 0, 0
		require.NoError(t, poller(t).Poll(t.Context(), transport.DefaultPace, func(context.Context) (bool, error) {
			if reads++; reads%10 == 0 { // nine failures in a row, again and again
				return reads == 50, nil
			}
			failing++
			return false, down
		}))
		assert.Equal(t, 45, failing)

		reads = 0
		err := poller(t).Poll(t.Context(), transport.DefaultPace, func(context.Context) (bool, error) {
			reads++
			return false, down
		})
		assert.Same(t, down, err)
		assert.Equal(t, 10, reads, "an outage without end ends the wait")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = poller(t).Poll(ctx, transport.DefaultPace, func(context.Context) (bool, error) { return false, down })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, down, "and why nothing newer was seen")
		assert.NotContains(t, err.Error(), "\n")
	})
}

func TestPollFollowsRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := func() error {
			return &errors.RateLimited{Refusal: errors.Refusal{CallInfo: errors.CallInfo{RetryAt: time.Now().
				Add(time.Minute)},
				Code: errors.CodeRateLimited, Status: 429}}
		}
		began := time.Now()
		require.NoError(t, poller(t).Poll(t.Context(), transport.DefaultPace, func(context.Context) (bool, error) {
			if time.Since(began) == 0 {
				return false, limited()
			}
			return true, nil
		}))
		assert.Equal(t, time.Minute, time.Since(began))

		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		began = time.Now()
		err := poller(t).Poll(ctx, transport.DefaultPace, func(context.Context) (bool, error) {
			return false, limited()
		})
		_, ok := errors.AsType[*errors.RateLimited](err)
		assert.True(t, ok, "%v", err)
		assert.Zero(t, time.Since(began), "a caller who has not got the time learns it at once")
	})
}

// One refusal must not stop a wait for a day.
func TestPollReturnsALongRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, host, through(script(refuses(429, errors.CodeRateLimited, "Retry-After", "86400"))))
		began := time.Now()
		err := client.Poll(t.Context(), transport.DefaultPace, func(ctx context.Context) (bool, error) {
			_, err := send(ctx, client, &readThing, transport.Call{})
			return false, err
		})
		limited, ok := errors.AsType[*errors.RateLimited](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, began.Add(24*time.Hour), limited.RetryAt)
		assert.Zero(t, time.Since(began))
	})
}

// A wait pauses for as long as a call would.
func TestPollWaitsAsLongAsACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := refuses(429, errors.CodeRateLimited, "Retry-After", "65")
		client := newClient(t, host, through(script(busy, ok)), retries(moneymovement.RetryPolicy{Max: -1}))
		began := time.Now()
		require.NoError(t, client.Poll(t.Context(), transport.DefaultPace, func(ctx context.Context) (bool, error) {
			_, err := send(ctx, client, &readThing, transport.Call{})
			return err == nil, err
		}))
		assert.Equal(t, 65*time.Second, time.Since(began))
	})
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		for _, d := range []time.Duration{-time.Hour, 0, 1, time.Second} {
			before := time.Since(began)
			require.NoError(t, transport.Pause(ctx, d))
			assert.Equal(t, max(d, 0), time.Since(began)-before)
		}
		before := time.Since(began)
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, transport.Pause(ctx, time.Minute), context.Canceled)
		assert.Equal(t, time.Second, time.Since(began)-before)
		for i := range 100 {
			d := time.Duration(i-50) * time.Second
			require.ErrorIs(t, transport.Pause(ctx, d), context.Canceled, "it has ended")
		}
		assert.Equal(t, time.Second, time.Since(began)-before)
	})
}

// poller is a client that sends nothing. The test decides what its polls read.
func poller(t *testing.T) *transport.Client { return newClient(t, host, through(script(ok))) }

func TestDefaultPollingPace(t *testing.T) {
	assert.Equal(t, moneymovement.Pace{Least: 500 * time.Millisecond, Most: 15 * time.Second}, transport.DefaultPace)
}

// A wait ends when its status has been one for half an hour that this version does not know. A known status in between
// begins the time anew.
func TestWaitForAStatusThatIsNotKnown(t *testing.T) {
	odd := func(times int) (reads []any) {
		for range times {
			reads = append(reads, "odd")
		}
		return reads
	}
	for name, tc := range map[string]struct {
		reads []any
		ends  time.Duration
	}{
		"at once": {odd(1), 30 * time.Minute},
		"again":   {append(append(odd(30), "open"), odd(1)...), 61 * time.Minute},
		"after":   {append([]any{"open", "open"}, odd(1)...), 32 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				wait := await(poller(t), tc.reads...)
				wait.Known = func(status *string) bool { return *status != "odd" }
				shortest := transport.WithRandom(t.Context(), func(time.Duration) time.Duration { return 0 })
				last, err := wait.Wait(shortest, []moneymovement.WaitOption{
					moneymovement.PollEvery(2*time.Minute, 2*time.Minute)}) // pauses of a minute
				still, ok := errors.AsType[*moneymovement.StillPending](err)
				require.True(t, ok, "%v", err)
				require.ErrorContains(t, still.Err, `does not know the status "odd", and it has not passed for 30m0s`)
				assert.Equal(t, "odd", *last)
				assert.Equal(t, tc.ends, time.Since(began))
				assert.Equal(t, tc.ends, still.Waited)
			})
		})
	}
}

// A wait ends when it cannot come to its end any more.
func TestWaitEndsIfItCannotSucceed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := errors.New("it was cancelled")
		wait := await(poller(t), "new", "dead")
		wait.Never = func(status *string) error {
			if *status == "dead" {
				return dead
			}
			return nil
		}
		var told []moneymovement.Progress
		last, err := wait.Wait(t.Context(), steadily(&told))
		still, ok := errors.AsType[*moneymovement.StillPending](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, dead, still.Err)
		assert.Equal(t, "dead", *last)
		assert.Equal(t, 2, still.Reads)
	})
}

// Wrong arguments and options of a wait are refused before it reads.
func TestWaitIsChecked(t *testing.T) {
	wait := await(poller(t), "done")
	wait.Check = func(c *transport.Check) { c.Missing("id", true) }
	read := wait.Read
	wait.Read = func(ctx context.Context) (*string, error) {
		assert.Fail(t, "it reads")
		return read(ctx)
	}
	for _, tc := range []struct {
		checked bool
		fields  []string
	}{{true, []string{"PollEvery", "id"}}, {false, []string{"PollEvery"}}} {
		if !tc.checked {
			wait.Check = nil
		}
		last, err := wait.Wait(t.Context(), []moneymovement.WaitOption{moneymovement.PollEvery(-1, -1)})
		invalid, ok := errors.AsType[*errors.InvalidInput](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, "GetThing", invalid.Operation)
		var fields []string
		for _, field := range invalid.Fields {
			fields = append(fields, field.Field)
		}
		assert.Equal(t, tc.fields, fields)
		assert.Nil(t, last)
	}
}
