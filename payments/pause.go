package payments

import (
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// The pauses after calls that the service refuses for all payments, if it does not say when to come back.
const (
	shortestPause = time.Second
	longestPause  = time.Minute
)

// api is an API with a credential and rate windows of its own.
type api int

const (
	platformAPI api = iota
	appAPI
	apis
)

// apiOf returns the API that pays a kind of payments.
func apiOf(kind Kind) api {
	if kind == KindTransfer {
		return appAPI
	}
	return platformAPI
}

// pauses are the times in which an API gets no calls, because it said so or because it refuses the credential.
type pauses struct {
	mu  sync.Mutex
	all [apis]pause
}

type pause struct {
	until    time.Time
	failures int // in a row, of calls that were refused for all payments
}

// until returns when the calls for a kind of payments may go on.
func (p *pauses) until(kind Kind) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[apiOf(kind)].until
}

// untilAny returns when the calls of any of the services may go on.
func (p *pauses) untilAny(s Services) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch platform, app := p.all[platformAPI].until, p.all[appAPI].until; {
	case s.transfers == nil:
		return platform
	case s.account == nil:
		return app
	default:
		return earlier(platform, app)
	}
}

// untilAll returns when all calls may go on.
func (p *pauses) untilAll() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return later(p.all[platformAPI].until, p.all[appAPI].until)
}

// after notes what a call for a kind of payments shows.
func (p *pauses) after(kind Kind, f found, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := &p.all[apiOf(kind)]
	switch {
	case f.next == outcome.Pause:
	case f.same, f.state == moneymovement.PaymentInDoubt && !f.tooOld(),
		f.state == moneymovement.PaymentNotPaid: // perhaps the call was refused, too
		return
	default:
		of.failures = 0
		return
	}
	if !of.until.After(now) {
		of.failures++
	}
	wait := grown(shortestPause, longestPause, of.failures)
	if !f.retryAt.IsZero() {
		wait = 0
	}
	of.until = later(of.until, dueAfter(now, wait, f.retryAt))
}
