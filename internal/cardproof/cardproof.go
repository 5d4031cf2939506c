// Package cardproof makes the wallet signatures that reveal card details. Each has the service's time, in a second that
// the client has not used yet.
package cardproof

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/nonce"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Prover makes the proofs of one client. It is safe for concurrent use.
type Prover struct {
	Client *transport.Client
	nonces nonce.Source
}

// Prove has the card's wallet sign for one call of an operation. A signature that takes longer than the proof lives
// fails with *errors.InvalidInput.
func (p *Prover) Prove(
	ctx context.Context, op *transport.Operation, id string, wallet model.CardSigner,
) (model.CardDetailsProof, error) {
	proof, err := model.SignCardDetails(ctx, wallet, id, p.nonces.Next(p.now()))
	if err != nil {
		return model.CardDetailsProof{}, err
	}
	return proof, nonce.Fresh(op, proof.Nonce, p.now())
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
