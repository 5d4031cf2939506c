package payments

import (
	"fmt"
	"hash/fnv"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// Policy says how often and when a payment is tried again and looked at. The zero value is the default.
type Policy struct {
	// Refusals is how many refusals that may pass by themselves are taken before a person must decide, such as those of
	// a service whose partner is down. Calls that did not reach the service do not count, and neither do pauses of all
	// payments: see Late. It does not limit a payment in doubt, which is tried until it is known. The default is 50.
	Refusals int
	// RetryMin is the pause after the first call that did not pay. Each further pause is twice as long, up to RetryMax.
	// If the service says when to come back, that time counts. The defaults are 1 second and 5 minutes.
	RetryMin, RetryMax time.Duration
	// Late is the time after which a payment that is not made counts as late: a warning in the log says so once, with
	// the last reason, and LoadMetrics.Late counts it. The default is 1 hour.
	Late time.Duration
	// FollowMin is the pause before the first look at a payment that is paid. Each further pause is half of the time
	// since it was paid, from FollowMin to FollowMax. The defaults are 1 second and 5 minutes.
	FollowMin, FollowMax time.Duration
}

func (p Policy) withDefaults() Policy {
	set := func(value *time.Duration, usual time.Duration) {
		if *value <= 0 {
			*value = usual
		}
	}
	if p.Refusals <= 0 {
		p.Refusals = 50
	}
	set(&p.Late, time.Hour)
	set(&p.RetryMin, time.Second)
	set(&p.RetryMax, 5*time.Minute)
	set(&p.FollowMin, time.Second)
	set(&p.FollowMax, 5*time.Minute)
	p.RetryMax, p.FollowMax = max(p.RetryMin, p.RetryMax), max(p.FollowMin, p.FollowMax)
	return p
}

// retryAfter returns the pause after the nth call that did not pay.
func (p Policy) retryAfter(key moneymovement.Key, n int) time.Duration {
	return jittered(key, n, grown(p.RetryMin, p.RetryMax, n))
}

// followAfter returns the pause before the next look at a payment that has been paid for so long. It needs no count of
// looks, which would have to be stored with each look.
func (p Policy) followAfter(key moneymovement.Key, paidFor time.Duration) time.Duration {
	pause := min(max(paidFor/2, p.FollowMin), p.FollowMax)
	return jittered(key, int(pause/time.Second), pause)
}

// grown returns least, doubled n-1 times, and at most most.
func grown(least, most time.Duration, n int) time.Duration {
	pause := min(least, most)
	for range n - 1 {
		if pause > most/2 {
			return most
		}
		pause *= 2
	}
	return pause
}

// jittered shortens a pause to between half and all of it, so that payments that failed together do not come back
// together. It depends on the key alone: the same payment has the same pauses in every process and in every test.
func jittered(key moneymovement.Key, n int, pause time.Duration) time.Duration {
	digest := fnv.New64a()
	_, _ = fmt.Fprint(digest, string(key), n)
	half := pause / 2
	return half + time.Duration(digest.Sum64()%uint64(half+1)) //gosec:disable G115 -- a pause is not negative
}
