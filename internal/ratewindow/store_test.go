package ratewindow_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// scripted is a store that returns the responses of a test, one for each request. When none is left, it returns that
// there is no slot for an hour.
type scripted struct {
	began   time.Time
	replies []scriptedReply

	mu    sync.Mutex
	noted []ratewindow.Request
	times []time.Duration // when it was asked
	ended []context.Context
}

type scriptedReply struct {
	ratewindow.Reservation
	after time.Duration // how long it takes
	err   error
}

var errDown = errors.New("the server is down")

func (s *scripted) Reserve(ctx context.Context, request ratewindow.Request) (ratewindow.Reservation, error) {
	s.mu.Lock()
	s.noted, s.times = append(s.noted, request), append(s.times, time.Since(s.began))
	s.ended = append(s.ended, ctx)
	reply := nothing(time.Hour)
	if number := len(s.noted); number <= len(s.replies) {
		reply = s.replies[number-1]
	}
	s.mu.Unlock()
	select {
	case <-time.After(reply.after):
		return reply.Reservation, reply.err
	case <-ctx.Done():
		return ratewindow.Reservation{}, ctx.Err()
	}
}

// requests returns the requests.
func (s *scripted) requests() []ratewindow.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.noted)
}

// at returns when they came.
func (s *scripted) at() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.times)
}

// waiting returns how many calls each request was for.
func (s *scripted) waiting() (calls []int) {
	for _, request := range s.requests() {
		calls = append(calls, request.Waiting[0]+request.Waiting[1]+request.Waiting[2]+request.Waiting[3])
	}
	return calls
}

// nothing gives no slot, and says when to ask again.
func nothing(next time.Duration) scriptedReply {
	return scriptedReply{Reservation: ratewindow.Reservation{WindowID: "log", Next: next}}
}

// granted gives slots, marked 1, 2 and so on, after these times.
func granted(in ...time.Duration) scriptedReply {
	reply := nothing(0)
	for i, after := range in {
		reply.Slots = append(reply.Slots, ratewindow.Slot{Mark: int64(i + 1), In: after})
	}
	return reply
}

func (a scriptedReply) next(next time.Duration) scriptedReply            { a.Next = next; return a }
func (a scriptedReply) late(after time.Duration) scriptedReply           { a.after = after; return a }
func (a scriptedReply) of(log string) scriptedReply                      { a.WindowID = log; return a }
func (a scriptedReply) room(free ...time.Duration) scriptedReply         { a.Free = free; return a }
func (a scriptedReply) others(calls [ratewindow.Ranks]int) scriptedReply { a.Others = calls; return a }

var down = scriptedReply{err: errDown}

// away is the error of a call that fails because the store is unavailable.
type away struct {
	window moneymovement.Window
	error
}

func (a away) Unwrap() error { return a.error }

// shared is a window that a store counts.
func shared(t *testing.T, allowance moneymovement.Allowance, sharing ratewindow.Sharing, replies ...scriptedReply) (
	*queue, *scripted,
) {
	store := &scripted{began: time.Now(), replies: replies}
	sharing.Store, sharing.Credential, sharing.Process = store, "c", "p"
	sharing.Unavailable = func(window moneymovement.Window, err error) error { return away{window, err} }
	return &queue{T: t, limiter: ratewindow.New(windows{"w": allowance}, &sharing), began: time.Now()}, store
}

var aMinute = moneymovement.Allowance{Calls: 4, Per: time.Minute}

// patient waits for a store for as long as a test lasts.
var patient = ratewindow.Sharing{Patience: time.Hour}

func between(t *testing.T, least, most, got time.Duration) {
	t.Helper()
	assert.GreaterOrEqual(t, got, least)
	assert.LessOrEqual(t, got, most)
}

// A store learns who asks, about which window, and for which calls. It learns the name of the window as long as calls
// count in it.
func TestRequestsToAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, patient, granted(0), granted(0), granted(0), granted(0))
		for _, after := range []time.Duration{0, minute - 1, minute} {
			time.Sleep(after)
			require.NoError(t, pass(t.Context(), q.limiter, "w", ""))
		}
		require.NoError(t, pass(t.Context(), q.limiter, "w", "ops@example.com"))
		first := ratewindow.Request{Key: "c:w", Process: "p", Calls: 4, Span: minute, Ahead: 250 * time.Millisecond}
		first.Waiting[ratewindow.Usual] = 1
		known, other := first, first
		known.WindowID = "log"
		other.Key = "c:w:af3c82544f648b38" // a digest: the scope can be an email
		assert.Equal(t, []ratewindow.Request{first, known, first, other}, store.requests())
		synctest.Wait()
		for _, ctx := range store.ended {
			assert.ErrorIs(t, ctx.Err(), context.Canceled)
		}
	})
}

// A slot is requested a sixtieth of the window before its time, and at most 250 ms.
func TestHowFarAheadSlotsAreRequested(t *testing.T) {
	for per, ahead := range map[time.Duration]time.Duration{
		6 * time.Second: 6100 * time.Millisecond / 60, time.Minute: 250 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			q, store := shared(t, moneymovement.Allowance{Calls: 1, Per: per}, patient, granted(0))
			require.NoError(t, pass(t.Context(), q.limiter, "w", ""))
			assert.Equal(t, ahead, store.requests()[0].Ahead)
		})
	}
}

// Slots are used at their time, by whichever call is first then. Calls without one are requested again when the store
// says so, or up to 125 ms later, so that processes do not ask at the same time.
func TestSlotsOfAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, patient, nothing(10*time.Second),
			granted(3*time.Second, 0).next(20*time.Second), granted(time.Second))
		q.comeMany(2, "write", moneymovement.ClassWrite, 0)
		q.come("poll", moneymovement.ClassPoll, 0)
		q.calls.Wait()
		assert.Equal(t, []int{1, 3, 1}, store.waiting())
		assert.Equal(t, 1, store.requests()[2].Waiting[ratewindow.Polls])
		assert.Equal(t, []string{"write", "write", "poll"}, q.order)
		asked := store.at()
		between(t, 10*time.Second, 10*time.Second+125*time.Millisecond, asked[1])
		between(t, 20*time.Second, 20*time.Second+125*time.Millisecond, asked[2]-asked[1])
		assert.Equal(t, []time.Duration{asked[1], asked[1] + 3*time.Second, asked[2] + time.Second}, q.at)
	})
}

func TestRequestTimesAreRandom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		again := slices.Repeat([]scriptedReply{nothing(time.Second)}, 100)
		q, store := shared(t, aMinute, patient, append(again, granted(0))...)
		q.come("write", moneymovement.ClassWrite, 0)
		q.calls.Wait()
		var latest time.Duration
		for i := range again {
			gap := store.at()[i+1] - store.at()[i]
			between(t, time.Second, time.Second+125*time.Millisecond, gap)
			latest = max(latest, gap)
		}
		assert.Greater(t, latest, time.Second+100*time.Millisecond)
	})
}

// Between its requests, a process asks only for a class that goes before those that the store knows of.
func TestCallOfAHigherClassIsRequestedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, patient, nothing(time.Hour), nothing(time.Hour), nothing(time.Hour),
			granted(0, 0, 0, 0, 0, 0))
		for _, tc := range []struct {
			class moneymovement.RateClass
			asked int
		}{
			{moneymovement.ClassPoll, 1}, {moneymovement.ClassPoll, 1}, {moneymovement.ClassRead, 2},
			{moneymovement.ClassPoll, 2}, {moneymovement.ClassWrite, 2}, {moneymovement.ClassConfirm, 3},
		} {
			q.come(string(tc.class), tc.class, 0)
			assert.Len(t, store.requests(), tc.asked, tc.class)
		}
		time.Sleep(time.Hour + time.Second)
		q.calls.Wait()
		assert.Equal(t, []int{1, 3, 6, 6}, store.waiting())
	})
}

// Once all calls have slots, the next one is requested at once.
func TestNextCallIsRequestedWhenAllOthersHaveSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, patient, granted(5*time.Second), granted(8*time.Second))
		q.comeMany(2, "write", moneymovement.ClassWrite, 0)
		assert.Equal(t, []int{1, 1}, store.waiting())
		q.calls.Wait()
		assert.Equal(t, []time.Duration{5 * time.Second, 8 * time.Second}, q.at)
		assert.Len(t, store.requests(), 2)
	})
}

// If a call gives up, the next one has its slot. A slot that is left over, the last one, goes back at once.
func TestSlotsOfCallsThatGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, patient, granted(5*time.Second), granted(0), nothing(0))
		store.replies[1].Slots = []ratewindow.Slot{{Mark: 9, In: 8 * time.Second}}
		gives, leave := context.WithCancel(t.Context())
		q.calls.Go(func() { assert.ErrorIs(q, pass(gives, q.limiter, "w", ""), context.Canceled) })
		synctest.Wait()
		q.come("next", moneymovement.ClassWrite, 0)
		time.Sleep(time.Second)
		leave()
		q.calls.Wait()
		assert.Equal(t, []time.Duration{5 * time.Second}, q.at)
		require.Len(t, store.requests(), 3)
		assert.Equal(t, []int64{9}, store.requests()[2].Unused)
		assert.Equal(t, time.Second, store.at()[2])
		assert.Equal(t, []int{1, 1, 0}, store.waiting())
		time.Sleep(time.Hour)
		assert.Len(t, store.requests(), 3, "there is nothing to ask")
	})
}

// A call that was admitted and gives up before it is sent leaves its slot to the next one, or gives it back.
func TestSlotsOfCallsThatAreNotSent(t *testing.T) {
	for name, next := range map[string]bool{"to the next call": true, "to the store": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, store := shared(t, aMinute, patient, nothing(10*time.Second), granted(0), nothing(0).of("other"),
					granted(0).of("other"))
				gone := &abandoned{Context: t.Context()}
				q.calls.Go(func() { assert.ErrorIs(q, pass(gone, q.limiter, "w", ""), context.Canceled) })
				synctest.Wait()
				if next {
					store.replies[1].Next = time.Hour
					q.come("next", moneymovement.ClassWrite, 0)
				}
				gone.ended.Store(true)
				q.calls.Wait()
				if next {
					assert.Equal(t, []time.Duration{store.at()[1]}, q.at)
					q.come("another", moneymovement.ClassRefresh, 0) // whose reservation shows that the window was lost
					time.Sleep(time.Second)
					require.Len(t, store.requests(), 4)
					assert.Len(t, store.requests()[3].Past, 1, "one of the two was sent")
					return
				}
				synctest.Wait()
				require.Len(t, store.requests(), 3)
				assert.Equal(t, []int64{1}, store.requests()[2].Unused)
				assert.Equal(t, store.at()[1], store.at()[2])
			})
		})
	}
}

// A slot is too old if half of the time has passed that a call counts here for longer than at the service.
func TestASlotThatIsTooOld(t *testing.T) {
	for in, used := range map[time.Duration]bool{-500 * time.Millisecond: true, -500*time.Millisecond - 1: false} {
		synctest.Test(t, func(t *testing.T) {
			q, store := shared(t, aMinute, patient, granted(in), granted(0))
			q.come("write", moneymovement.ClassWrite, 0)
			time.Sleep(time.Second)
			q.calls.Wait()
			assert.Equal(t, used, len(store.requests()) == 1)
			if !used {
				assert.Equal(t, []int64{1}, store.requests()[1].Unused)
			}
		})
	}
}

// The same is true for the slots of an scriptedReply that takes as long. What else it says counts.
func TestStaleReservation(t *testing.T) {
	const slow = 500 * time.Millisecond
	for name, tc := range map[string]struct {
		first    scriptedReply
		asked    int
		unused   []int64
		earliest time.Duration // for the second request
		latest   time.Duration
	}{
		"in time": {granted(0).late(slow), 1, nil, 0, 0},
		"too late": {granted(0, time.Second).late(slow + 1), 2, []int64{1, 2}, slow + 1,
			slow + 1 + 250*time.Millisecond},
		"no slots": {nothing(9 * time.Second).late(slow + 1), 2, nil, slow + 1 + 9*time.Second,
			slow + 1 + 9*time.Second + 125*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, store := shared(t, aMinute, patient, tc.first, granted(0))
				q.come("write", moneymovement.ClassWrite, 0)
				q.calls.Wait()
				require.Len(t, store.requests(), tc.asked)
				if tc.asked == 2 {
					assert.Equal(t, tc.unused, store.requests()[1].Unused)
					between(t, tc.earliest, tc.latest, store.at()[1])
				}
			})
		})
	}
}

// A store may respond too late nine times in a row, but not ten times.
func TestAStoreThatIsTooSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := granted(0).late(501 * time.Millisecond)
		replies := []scriptedReply{late, late, late, late, late, late, late, late, late}
		replies = append(append(replies, granted(0)), replies...)
		q, store := shared(t, aMinute, ratewindow.Sharing{}, append(replies, granted(0))...)
		require.NoError(t, pass(t.Context(), q.limiter, "w", ""))
		require.NoError(t, pass(t.Context(), q.limiter, "w", ""))
		assert.Len(t, store.requests(), 20)

		q, store = shared(t, aMinute, ratewindow.Sharing{}, append(replies[:9:9], late, granted(0))...)
		err := pass(t.Context(), q.limiter, "w", "")
		require.ErrorContains(t, err, "it responds too slowly")
		assert.Len(t, store.requests(), 10)
		var latest time.Duration
		for i := range 9 {
			gap := store.at()[i+1] - store.at()[i]
			between(t, 501*time.Millisecond, 751*time.Millisecond, gap)
			latest = max(latest, gap)
		}
		assert.Greater(t, latest, 501*time.Millisecond, "not all processes at once")
	})
}

// A store has two seconds for its reservation.
func TestAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, ratewindow.Sharing{}, nothing(time.Second).late(2*time.Second-1),
			nothing(0).late(time.Minute))
		err := pass(t.Context(), q.limiter, "w", "")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, store.at()[1]+2*time.Second, time.Since(q.began))
	})
}

// An unavailable store is asked again after random pauses, around 50 ms at first, doubled each time, up to a sixtieth
// of the window. Calls fail when their patience ends.
func TestUnavailableStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replies := make([]scriptedReply, 100)
		for i := range replies {
			replies[i] = down
		}
		replies[90] = granted(0)
		q, store := shared(t, aMinute, ratewindow.Sharing{Patience: 40 * time.Second}, replies...)
		err := pass(t.Context(), q.limiter, "w", "")
		assert.Equal(t, away{"w", errDown}, err)
		assert.Equal(t, 40*time.Second, time.Since(q.began))
		pause := func(i int, of time.Duration) {
			between(t, of/2, of*3/2, store.at()[i+1]-store.at()[i])
		}
		for i := range 5 {
			pause(i, 50*time.Millisecond<<i)
		}
		asked, longest, shortest := len(store.requests()), time.Duration(0), time.Minute
		for i := 5; i < asked-1; i++ {
			pause(i, minute/60)
			took := store.at()[i+1] - store.at()[i]
			longest, shortest = max(longest, took), min(shortest, took)
		}
		assert.Greater(t, longest-shortest, 300*time.Millisecond)

		// The next call asks once more, if it may, and then fails at once.
		require.ErrorIs(t, pass(t.Context(), q.limiter, "w", ""), errDown)
		time.Sleep(2 * time.Second)
		began := time.Now()
		require.ErrorIs(t, pass(t.Context(), q.limiter, "w", ""), errDown)
		assert.Zero(t, time.Since(began))
		require.Greater(t, len(store.requests()), asked)
		asked = len(store.requests())
		require.ErrorIs(t, pass(t.Context(), q.limiter, "w", ""), errDown)
		assert.Len(t, store.requests(), asked, "it was asked a moment ago")

		// After its return, it is as if it had never been unavailable.
		store.mu.Lock()
		store.replies = append(replies[:asked:asked], granted(0))
		for range 20 {
			store.replies = append(store.replies, down, granted(0))
		}
		store.mu.Unlock()
		time.Sleep(2 * time.Second)
		require.NoError(t, pass(t.Context(), q.limiter, "w", ""))
		for i := range 20 {
			require.NoError(t, pass(t.Context(), q.limiter, "w", ""))
			pause(asked+1+2*i, 50*time.Millisecond)
		}
	})
}

// A request that is under way when the patience ends may still get its response.
func TestStoreThatRecoversAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := shared(t, aMinute, ratewindow.Sharing{Patience: 200 * time.Millisecond}, down,
			granted(0).late(400*time.Millisecond))
		require.NoError(t, pass(t.Context(), q.limiter, "w", ""))
		between(t, 425*time.Millisecond, 475*time.Millisecond, time.Since(q.began))
	})
}

// An unavailable store is not asked because of a call of an earlier class.
func TestUnavailableStoreIsNotAskedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, patient, down, granted(0, 0))
		q.come("poll", moneymovement.ClassPoll, 0)
		q.come("refresh", moneymovement.ClassRefresh, 0)
		assert.Len(t, store.requests(), 1)
		q.calls.Wait()
		assert.Equal(t, []int{1, 2}, store.waiting())
	})
}

// half gives a process half of the window while the store is unavailable.
var half = ratewindow.Sharing{Share: 2, Patience: time.Second}

// While the store is unavailable, a process has its share of the window, and tells the store afterwards what it did.
func TestTheShareOfAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, half, down, granted(0), granted(0))
		q.comeMany(3, "write", moneymovement.ClassWrite, 0)
		assert.Len(t, q.went(), 2, "half of four")
		q.calls.Wait()
		back := store.at()[1]
		assert.Equal(t, []time.Duration{0, 0, back}, q.at)
		assert.Equal(t, []time.Duration{back, back}, store.requests()[1].Past)
		assert.Equal(t, []int{1, 1}, store.waiting())
		q.come("write", moneymovement.ClassWrite, 0)
		assert.Empty(t, store.requests()[2].Past, "the store knows them now")
	})
}

// A call that has room in the share also asks the store, which may be back. Until the store knows of the calls with the
// share, it gives others the whole window.
func TestCallWithinTheShareStillAsksTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, half, down, nothing(0), granted(0))
		q.come("write", moneymovement.ClassWrite, 0)
		time.Sleep(10 * time.Second)
		q.come("write", moneymovement.ClassWrite, 0)
		assert.Equal(t, []time.Duration{0, 10 * time.Second}, q.at)
		require.Len(t, store.requests(), 2)
		assert.Equal(t, []time.Duration{10 * time.Second, 0}, store.requests()[1].Past)
		q.come("write", moneymovement.ClassWrite, 0)
		assert.Equal(t, []int{1, 0, 1}, store.waiting(), "the share is over")
	})
}

// Each process has one call at least, however many there are.
func TestTheSmallestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		always := make([]scriptedReply, 1000)
		for i := range always {
			always[i] = down
		}
		q, _ := shared(t, aMinute, ratewindow.Sharing{Share: 10}, always...)
		q.comeMany(3, "write", moneymovement.ClassWrite, 0)
		q.calls.Wait()
		assert.Equal(t, []time.Duration{0, minute, 2 * minute}, q.at)
	})
}

// A share is as full as the window was when the store was last heard: of each n free places one is for this process.
// Its own calls count as well.
func TestAShareOfAWindowThatIsInUse(t *testing.T) {
	for name, tc := range map[string]struct {
		share int
		made  int // calls that the store has admitted, one a second
		want  []int
	}{
		"alone":                 {1, 0, []int{3, 10, 10, 20}},
		"alone, in use":         {1, 2, []int{3, 10, 61, 62}},
		"others' calls":         {2, 0, []int{10, 20, 71, 81}},
		"others' and its own":   {2, 1, []int{10, 61, 71}},
		"its own":               {2, 2, []int{61, 62}},
		"more than its share":   {2, 3, []int{62, 63}},
		"far more than a share": {4, 3, []int{63, 124}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var replies []scriptedReply
				for range tc.made {
					replies = append(replies, granted(0))
				}
				replies = append(replies, nothing(3*time.Second))
				for range 1000 {
					replies = append(replies, down)
				}
				sharing := ratewindow.Sharing{Share: tc.share, Patience: time.Hour}
				q, store := shared(t, aMinute, sharing, replies...)
				for i := range tc.made {
					store.replies[i].Next = 0
					q.fill(1)
					time.Sleep(time.Second)
				}
				// heard three seconds after the beginning
				time.Sleep(time.Duration(3-tc.made)*time.Second - time.Second)
				store.replies[tc.made] = nothing(time.Second).room(0, 8*time.Second, 18*time.Second)
				q.comeMany(len(tc.want), "write", moneymovement.ClassWrite, 0)
				q.calls.Wait()
				for i := range tc.want {
					// the store is asked again, and lost, up to 125 ms after the third second
					assert.Equal(t, time.Duration(tc.want[i])*time.Second, q.at[i].Round(time.Second), "%d", i)
				}
			})
		})
	}
}

// When the store goes, the calls are refused that come too late with the share.
func TestACallThatTheShareMakesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := down
		q, _ := shared(t, aMinute, ratewindow.Sharing{Share: 4}, lost.late(time.Second))
		q.come("write", moneymovement.ClassWrite, 0)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		var windowFull *moneymovement.WindowFull
		require.ErrorAs(t, pass(ctx, q.limiter, "w", ""), &windowFull)
		assert.Equal(t, q.began.Add(time.Second+minute), windowFull.Until)
		assert.Equal(t, time.Second, time.Since(q.began))
		q.calls.Wait()
	})
}

// A call of the share that was not sent is not reported to the store, and another call takes its place.
func TestUnsentCallOfTheShareIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, ratewindow.Sharing{Share: 4}, down, down, down, down, down, down, down,
			granted(0))
		gone := &abandoned{Context: t.Context()}
		lost := store.replies[0]
		store.replies[0] = lost.late(time.Second)
		q.calls.Go(func() { assert.ErrorIs(q, pass(gone, q.limiter, "w", ""), context.Canceled) })
		synctest.Wait()
		q.comeMany(2, "write", moneymovement.ClassWrite, 0)
		gone.ended.Store(true)
		q.calls.Wait()
		last := len(store.requests()) - 1
		assert.Equal(t, []time.Duration{time.Second, store.at()[last]}, q.at)
		assert.Equal(t, []time.Duration{store.at()[last] - time.Second}, store.requests()[last].Past)
	})
}

// After a window was lost, the store gets all calls that still count. Slots of the old window no longer count.
func TestStoreThatHasLostItsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, patient, granted(0), granted(0), granted(5*time.Second),
			granted(0).of("another"), granted(0, 0).of("another"), granted(0).of("another"))
		q.fill(1)
		time.Sleep(minute - 2*time.Second)
		q.fill(1)
		time.Sleep(time.Second)
		q.come("write", moneymovement.ClassWrite, 0) // has a slot in five seconds
		time.Sleep(time.Second)                      // the first call counts no more
		q.come("refresh", moneymovement.ClassRefresh, 0)
		lost := minute
		q.calls.Wait()
		require.Len(t, store.requests(), 5, "no slot of the old log goes back")
		again := store.at()[4]
		between(t, lost, lost+125*time.Millisecond, again)
		assert.Equal(t, []time.Duration{again, again}, q.at)
		assert.Equal(t, "log", store.requests()[3].WindowID)
		assert.Empty(t, store.requests()[3].Past)
		assert.Equal(t, "another", store.requests()[4].WindowID)
		assert.Equal(t, []time.Duration{again - (minute - 2*time.Second)}, store.requests()[4].Past)
		q.come("write", moneymovement.ClassWrite, 0)
		assert.Empty(t, store.requests()[5].Past)
	})
}

// A process does not ask at once about a new window, as the others would at the same time.
func TestStoreThatLosesItsWindowRepeatedly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replies := []scriptedReply{nothing(time.Second)}
		for i := range 100 {
			replies = append(replies, nothing(0).of(strconv.Itoa(i)))
		}
		q, store := shared(t, aMinute, patient, append(replies, granted(0).of("99"))...)
		q.come("write", moneymovement.ClassWrite, 0)
		q.calls.Wait()
		var latest time.Duration
		for i := 1; i <= 100; i++ {
			gap := store.at()[i+1] - store.at()[i]
			between(t, 0, 125*time.Millisecond, gap)
			latest = max(latest, gap)
		}
		assert.Greater(t, latest, 100*time.Millisecond)
	})
}

// A call is refused at once if it comes too late by what the store has said: how many calls of earlier classes wait
// elsewhere, and when there is room for the first call, the second and the fourth.
func TestACallThatIsTooLateByTheStore(t *testing.T) {
	for class, until := range map[moneymovement.RateClass]time.Duration{
		moneymovement.ClassRefresh: 10 * time.Second, moneymovement.ClassConfirm: 20 * time.Second,
		moneymovement.ClassWrite: 40 * time.Second, moneymovement.ClassPoll: minute + 20*time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			q, store := shared(t, aMinute, patient, nothing(time.Hour).
				room(10*time.Second, 20*time.Second, 40*time.Second).others([ratewindow.Ranks]int{1, 2, 2, 9}))
			first, leave := context.WithCancel(t.Context())
			q.calls.Go(func() { _ = q.limiter.Wait(first, moneymovement.RateCall{Window: "w", Class: class}) })
			synctest.Wait()
			leave()
			q.calls.Wait()
			for _, deadline := range []time.Duration{until, until + 1} {
				ctx, cancel := context.WithTimeout(t.Context(), deadline)
				defer cancel()
				asked := len(store.requests())
				err := q.limiter.Wait(ctx, moneymovement.RateCall{Window: "w", Class: class})
				if deadline > until {
					assert.Equal(t, context.DeadlineExceeded, err, class)
					continue
				}
				var windowFull *moneymovement.WindowFull
				require.ErrorAs(t, err, &windowFull, class)
				assert.Equal(t, q.began.Add(until), windowFull.Until, class)
				assert.Zero(t, time.Since(q.began))
				assert.Len(t, store.requests(), asked)
			}
		})
	}
}

// What a store says can show that calls in the queue come too late.
func TestACallInLineThatIsTooLateByTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := shared(t, aMinute, patient, nothing(2*time.Second), nothing(time.Hour).room(minute, minute, minute))
		q.come("confirm", moneymovement.ClassConfirm, 30*time.Second)
		q.calls.Wait()
		assert.Equal(t, []string{"confirm"}, q.late)
		between(t, 2*time.Second, 2125*time.Millisecond, time.Since(q.began))
	})
}

// The first call in a long window goes after the longest wait, which the store learns. In a window of a minute, it
// waits for its slot.
func TestAStoreLearnsThatACallIsOverdue(t *testing.T) {
	for per, overdue := range map[time.Duration]bool{time.Hour: true, 64 * time.Second: false, time.Minute: false} {
		synctest.Test(t, func(t *testing.T) {
			next := time.Hour
			if !overdue {
				next = ratewindow.LongestWait
			}
			q, store := shared(t, moneymovement.Allowance{Calls: 4, Per: per}, patient, nothing(next), granted(0))
			q.come("write", moneymovement.ClassWrite, 0)
			q.calls.Wait()
			require.Len(t, store.requests(), 2)
			assert.Equal(t, overdue, store.requests()[1].Overdue)
			between(t, ratewindow.LongestWait, ratewindow.LongestWait+125*time.Millisecond, store.at()[1])
			assert.True(t, !overdue || store.at()[1] == ratewindow.LongestWait)
		})
	}
}

// The store learns that a confirm may be too late unless confirms go first.
func TestRequestMarksConfirmsThatMayBeTooLate(t *testing.T) {
	for closes, pressed := range map[time.Duration]bool{0: false, minute + 5*time.Second - 1: true,
		minute + 5*time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			q, store := shared(t, aMinute, patient, granted(0))
			q.come("confirm", moneymovement.ClassConfirm, closes)
			q.calls.Wait()
			assert.Equal(t, pressed, store.requests()[0].Pressed, closes)
		})
	}
}

// What is known of a window is forgotten when none of its calls counts any more.
func TestAWindowOfAStoreIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replies := make([]scriptedReply, 1000)
		for i := range replies {
			replies[i] = granted(0)
		}
		q, _ := shared(t, aMinute, patient, replies...)
		for i := range 128 {
			if i == 100 {
				time.Sleep(time.Second)
			}
			require.NoError(t, pass(t.Context(), q.limiter, "w", strconv.Itoa(i)))
		}
		require.NoError(t, pass(t.Context(), q.limiter, "w", "0")) // counts longer than its first call
		time.Sleep(minute - time.Second)
		require.NoError(t, pass(t.Context(), q.limiter, "w", "new"))
		assert.Equal(t, 1+28+1, ratewindow.Remembered(q.limiter))
	})
}

// A window is kept as long as there is something to tell the store, or to hear from it.
func TestWindowWithAPendingRequestIsKept(t *testing.T) {
	for name, last := range map[string]scriptedReply{
		"under way": granted(0).late(time.Second), "slots to give back": granted(5 * time.Second).next(time.Hour),
		"nothing": nothing(0).next(time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				replies := slices.Repeat([]scriptedReply{granted(0)}, 127)
				q, _ := shared(t, aMinute, patient, append(replies, last, granted(0))...)
				for i := range 127 {
					require.NoError(t, pass(t.Context(), q.limiter, "w", strconv.Itoa(i)))
				}
				time.Sleep(minute)
				gives, leave := context.WithCancel(t.Context())
				q.calls.Go(func() { _ = pass(gives, q.limiter, "w", "open") })
				synctest.Wait()
				leave()
				q.calls.Wait()
				require.NoError(t, pass(t.Context(), q.limiter, "w", "new"))
				want := 2
				if name == "nothing" {
					want = 1
				}
				assert.Equal(t, want, ratewindow.Remembered(q.limiter))
				time.Sleep(time.Second) // the reservation under way
			})
		})
	}
}

// A slot goes back at once if the last reservation has slots for all calls, although an earlier reservation said to
// wait.
func TestSlotThatNoCallNeedsIsReturnedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, patient, nothing(time.Hour), granted(0, 5*time.Second))
		gives, leave := context.WithCancel(t.Context())
		q.calls.Go(func() { assert.ErrorIs(q, pass(gives, q.limiter, "w", ""), context.Canceled) })
		synctest.Wait()
		q.come("refresh", moneymovement.ClassRefresh, 0)
		leave()
		q.calls.Wait()
		synctest.Wait()
		require.Len(t, store.requests(), 3)
		assert.Equal(t, []int64{2}, store.requests()[2].Unused)
		assert.Zero(t, store.at()[2])
	})
}

// A call goes on when its slot comes, and one without a slot when there is room behind the slots.
func TestAdmissionTimeOfACallWithASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, patient, nothing(time.Second),
			granted(20*time.Second, 10*time.Second).next(time.Hour).
				room(30*time.Second, 40*time.Second, 50*time.Second))
		noted := &watched{began: time.Now()}
		all, leave := context.WithCancel(t.Context())
		for range 3 {
			q.calls.Go(func() {
				waiting, over := ratewindow.BeginWait(ratewindow.WatchQueue(all, noted.watch), "w")
				defer over()
				_ = pass(waiting, q.limiter, "w", "")
			})
			synctest.Wait()
			time.Sleep(100 * time.Millisecond) // so that they are watched one after the other
		}
		time.Sleep(time.Minute)
		leave()
		q.calls.Wait()
		heard := store.at()[1]
		want := []time.Duration{heard + 10*time.Second, heard + 20*time.Second, heard + 30*time.Second}
		assert.Equal(t, want, noted.until)
		assert.Equal(t, want[:2], noted.finished[:2])
	})
}

// A request for which nobody waits any more is not asked.
func TestCanceledWaitIsNotRequestedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := shared(t, aMinute, patient, nothing(10*time.Second))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, pass(ctx, q.limiter, "w", ""), context.Canceled)
		time.Sleep(time.Minute)
		assert.Len(t, store.requests(), 1)
	})
}

// Of the slots of a store, a class that waits has a tenth as well, unless a confirm would then be too late.
func TestATenthOfTheSlotsOfAStore(t *testing.T) {
	for closes, write := range map[time.Duration]int{0: 1, minute: 0} {
		synctest.Test(t, func(t *testing.T) {
			q, _ := shared(t, aMinute, patient, nothing(time.Second).late(100*time.Millisecond),
				granted(0, 0, 0, 0, 0, 0, 0, 0, 0, 0).next(10*time.Second), granted(5*time.Second))
			q.come("write", moneymovement.ClassWrite, 0)
			q.comeMany(10, "confirm", moneymovement.ClassConfirm, closes)
			time.Sleep(2 * time.Second)
			synctest.Wait()
			assert.Equal(t, write, q.count("write", 10))
			q.calls.Wait()
			assert.Len(t, q.order, 11)
		})
	}
}

// Of the calls with the same mark, the one that was not sent is forgotten. The marks of a share are times, and those of
// a store can be any numbers.
func TestTheCallThatIsNotSentIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := granted(0)
		first.Slots[0].Mark = int64(minute)
		q, store := shared(t, aMinute, ratewindow.Sharing{Share: 2}, first, down, nothing(0))
		q.fill(1)
		time.Sleep(time.Second)
		gone := &abandoned{Context: t.Context()}
		late := down
		store.replies[1] = late.late(time.Second)
		q.calls.Go(func() { assert.ErrorIs(q, pass(gone, q.limiter, "w", ""), context.Canceled) })
		synctest.Wait()
		gone.ended.Store(true)
		q.calls.Wait()
		time.Sleep(time.Second)
		q.come("write", moneymovement.ClassWrite, 0) // with the share
		require.Len(t, store.requests(), 3)
		assert.Equal(t, []time.Duration{0}, store.requests()[2].Past, "the store knows of the first one")
	})
}
