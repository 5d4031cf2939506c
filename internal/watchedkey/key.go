// Package watchedkey is a developer key for tests: it counts what it is asked to sign.
package watchedkey

import (
	"bytes"
	"context"
	"sync"

	"github.com/moneymovement/moneymovement-go/signing"
)

// Key counts what another signer is asked to sign, and can do something just before. It is safe for concurrent use.
type Key struct {
	signing.Signer

	Fails error // what the signing of an approval fails with, if anything; set it while nothing is signed

	mu                sync.Mutex
	logins, approvals int
	before            func(approvals int)
}

// Sign implements signing.Signer.
func (k *Key) Sign(ctx context.Context, message []byte) ([]byte, error) {
	k.mu.Lock()
	before, approvals := k.before, 0
	if bytes.Contains(message, []byte(`"approvalId"`)) {
		k.approvals++
		approvals = k.approvals
	} else {
		k.logins++
	}
	k.mu.Unlock()
	if before != nil && approvals > 0 {
		before(approvals)
	}
	if k.Fails != nil && approvals > 0 {
		return nil, k.Fails
	}
	return k.Signer.Sign(ctx, message)
}

// BeforeApproval has f called before each approval is signed, with its number: 1 for the first of this key.
func (k *Key) BeforeApproval(f func(n int)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.before = f
}

// Approvals returns how many approvals it was asked to sign.
func (k *Key) Approvals() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.approvals
}

// Logins returns how many login challenges it was asked to sign.
func (k *Key) Logins() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.logins
}
