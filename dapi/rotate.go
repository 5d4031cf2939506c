package dapi

import (
	"sync/atomic"

	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// UseKey changes to another developer key of the same account, which has to be registered already. Calls that begin
// from now on log in and sign with it, for the integrator and all its clients. Calls under way end with the old key and
// its session: delete the old key in the service's application after that. A payment that is booked again uses the new
// key from then on, and so does a wait when it reads again. A [TokenStore] stays in use, and holds the session of the
// new key after the next login. If the key is the one in use already, its session goes on. A key that is nil or has no
// public half is *errors.InvalidInput.
//
// Source: Authentication, Platform API (keys are immutable; to change scopes or allowlist, create a second key).
func (i *Integrator) UseKey(key signing.Signer) error { return transport.Of(i).platform.useKey(key) }

// UseKey is [Integrator.UseKey]. It changes the key of all accounts that the credential acts for.
func (a *Account) UseKey(key signing.Signer) error { return transport.Of(a).platform.useKey(key) }

func (p *platform) useKey(key signing.Signer) error {
	p = transport.Of(p)
	if err := transport.Validate("UseKey", func(c *transport.Check) { c.Made(p.transport, constructors) }); err != nil {
		return err
	}
	developer := p.keys.current.Load().developer
	developer.Key = key
	if err := developer.validate("UseKey"); err != nil {
		return err
	}
	p.use(developer)
	return nil
}

// use makes a session of a developer the one of calls that begin now. Nothing is sent.
func (p *platform) use(developer Developer) {
	s := newSession(p.baseURL, developer, p.seen, p.logger)
	s.low = lowLevel{transport: p.transport}
	if before := p.keys.current.Load(); before != nil && before.credential == s.credential {
		s.current = before.latest() // the same key, by another signer perhaps, needs no login
	}
	p.keys.current.Store(s)
}

func (s *session) latest() Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// keyring holds the session, with its developer key, of the calls that begin now.
type keyring struct{ current atomic.Pointer[session] }

// session is the one that calls are made in, nil for logins.
func (c lowLevel) session() *session {
	if c.pinned != nil || c.keys == nil {
		return c.pinned
	}
	return c.keys.current.Load()
}

// holding makes its calls in the session of now, whatever comes after it: what was booked with a key is signed and
// confirmed with it.
func (c lowLevel) withCurrentSession() lowLevel {
	c.pinned = c.keys.current.Load()
	return c
}

// authorize has a call carry the token of its session, unless it was told whose.
func (c lowLevel) authorize(call *transport.Call) {
	if s := c.session(); s != nil && call.Auth == nil {
		call.Auth = s
	}
}

// withCurrentKey is the service for one payment, which books, signs and confirms with one key.
func (s *Payouts) withCurrentKey() *Payouts {
	one := *s
	one.low = s.low.withCurrentSession()
	one.approver.low = one.low
	return &one
}

// withCurrentKey is the service for one deal's action, which prepares, signs and confirms with one key.
func (s *Escrows) withCurrentKey() *Escrows {
	one := *s
	one.low = s.low.withCurrentSession()
	one.approver.low = one.low
	return &one
}
