package dapi

import (
	"sync/atomic"

	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// UseKey changes to another developer key of the same account, for the integrator and all its clients. The key must be
// registered at the service.
//
//   - Calls that begin after UseKey log in and sign with the new key.
//   - Running calls end with the old key and its session. Delete the old key in the service's application after they
//     have ended.
//   - There are two exceptions. A running payment uses the new key from its next booking on, and a running wait from
//     its next read on.
//   - A [TokenStore] stays in use. After the next login, it has the session of the new key.
//   - If the key is already in use, its session continues.
//
// UseKey fails with *errors.InvalidInput if the key is nil or has no public key.
func (i *Integrator) UseKey(key signing.Signer) error { return transport.Of(i).platform.useKey(key) }

// UseKey does the same as [Integrator.UseKey]: it changes the key for the integrator and all its clients, not only for
// this account.
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

// use makes a session of the developer the one of calls that begin now. It sends nothing.
func (p *platform) use(developer Developer) {
	s := newSession(p.baseURL, developer, p.seen, p.logger)
	s.low = lowLevel{transport: p.transport}
	if before := p.keys.current.Load(); before != nil && before.credential == s.credential {
		// the same key needs no new login, even with another signer
		s.held.Store(&held{Session: before.held.Load().Session})
	}
	p.keys.current.Store(s)
}

// keyring holds the session, with its developer key, of the calls that begin now.
type keyring struct{ current atomic.Pointer[session] }

// session returns the session of the calls, nil for logins.
func (c lowLevel) session() *session {
	if c.pinned != nil || c.keys == nil {
		return c.pinned
	}
	return c.keys.current.Load()
}

// withCurrentSession keeps the calls in the current session, even after UseKey: what was booked with a key is signed
// and confirmed with the same key.
func (c lowLevel) withCurrentSession() lowLevel {
	c.pinned = c.keys.current.Load()
	return c
}

// withCurrentKey returns the service for one payment, which is booked, signed and confirmed with one key.
func (s *Payouts) withCurrentKey() *Payouts {
	one := *s
	one.low = s.low.withCurrentSession()
	one.approver.low = one.low
	return &one
}

// withCurrentKey returns the service for one action of a deal, which is prepared, signed and confirmed with one key.
func (s *Escrows) withCurrentKey() *Escrows {
	one := *s
	one.low = s.low.withCurrentSession()
	one.approver.low = one.low
	return &one
}
