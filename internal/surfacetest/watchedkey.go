package surfacetest

import (
	"bytes"
	"context"
	"sync"

	"github.com/moneymovement/moneymovement-go/signing"
)

// WatchedKey counts how often another signer signs, and can call a function just before. It is safe for concurrent use.
type WatchedKey struct {
	signing.Signer

	Fails error // the error of signing an approval; nil signs it. Set it while nothing is signed

	mu                sync.Mutex
	logins, approvals int
	before            func(approvals int)
}

// Sign implements signing.Signer.
func (k *WatchedKey) Sign(ctx context.Context, message []byte) ([]byte, error) {
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
	if approvals > 0 && k.Fails != nil {
		return nil, k.Fails
	}
	return k.Signer.Sign(ctx, message)
}

// BeforeApproval sets a function that is called before each approval is signed. It gets the approval's number, 1 for
// the first of this key.
func (k *WatchedKey) BeforeApproval(f func(n int)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.before = f
}

// Approvals returns how many approvals the key was asked to sign.
func (k *WatchedKey) Approvals() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.approvals
}

// Logins returns how many login challenges the key was asked to sign.
func (k *WatchedKey) Logins() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.logins
}
