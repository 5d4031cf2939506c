// Package cardproof makes the wallet signatures that reveal card details. Each has the service's time, in a second that
// the client has not used yet, and is not sent when it has grown too old.
package cardproof

import (
	"context"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Prover makes the proofs of one client. It is safe for concurrent use.
type Prover struct {
	Client *transport.Client
	nonces source
}

// Prove has the card's wallet sign for one call of an operation. A signature that takes longer than the proof lives
// fails with *errors.InvalidInput.
func (p *Prover) Prove(
	ctx context.Context, op *transport.Operation, id string, wallet model.CardSigner,
) (model.CardDetailsProof, error) {
	proof, err := model.SignCardDetails(ctx, wallet, id, p.nonces.next(p.now()))
	if err != nil {
		return model.CardDetailsProof{}, err
	}
	return proof, fresh(op, proof.Nonce, p.now())
}

// Reveal sends a proof. If the service refuses it with a conflict, the nonce may have been used before: by this call,
// whose first response was lost, or by another process in the same second. Reveal then proves and sends once more, with
// another nonce.
func (p *Prover) Reveal(
	ctx context.Context, op *transport.Operation, id string, wallet model.CardSigner,
	send func(model.CardDetailsProof) (*model.CardDetails, error),
) (*model.CardDetails, error) {
	for again := true; ; again = false {
		proof, err := p.Prove(ctx, op, id, wallet)
		if err != nil {
			return nil, err
		}
		details, err := send(proof)
		if _, used := errors.AsType[*errors.Conflict](err); !used || !again {
			return details, err
		}
	}
}

// now returns the service's time by its last response. One response is enough here: a wrong time makes the service
// refuse the proof, and the holder is waiting.
func (p *Prover) now() time.Time {
	_, now := p.Client.ServiceTimes()
	return now
}

// source gives out each second once. The service may take a nonce only once, and then refuses a second call within the
// same second. It is safe for concurrent use.
type source struct {
	mu   sync.Mutex
	used map[int64]bool // Unix seconds
}

// lifetime is how long a nonce is valid.
const lifetime = 5 * time.Minute

// maxBack is how many seconds a burst of calls may go back. It is well within [lifetime].
const maxBack = 150

// next returns now in whole seconds. If that second was given out, it returns the latest earlier second that was not,
// because the service may refuse a second in the future. After maxBack calls in a row it returns now again, and the
// service decides.
func (s *source) next(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	latest := now.Unix()
	next := latest
	for s.used[next] && next > latest-maxBack {
		next--
	}
	if s.used[next] {
		next = latest
	}
	for second := range s.used { // too old to be given out again, or in the future because the clock was set back
		if second < latest-maxBack || second > latest+maxBack {
			delete(s.used, second)
		}
	}
	if s.used == nil {
		s.used = map[int64]bool{}
	}
	s.used[next] = true
	return time.Unix(next, 0)
}

// fresh refuses a nonce that expired before it was sent, for example while a person was asked to sign it.
func fresh(op *transport.Operation, nonce int64, now time.Time) error {
	return transport.Validate(op.ID, func(c *transport.Check) {
		if now.Sub(time.Unix(nonce, 0)) >= lifetime {
			c.Refuse("nonce", "stale", "was signed too late: it is valid for five minutes")
		}
	})
}
