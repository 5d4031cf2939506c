// Package cardproof makes the wallet signatures that reveal card details. Each has the service's time, in a second that
// the client has not used yet.
package cardproof

import (
	"context"
	"time"

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

// now returns the service's time by its last response. One response is enough here: a wrong time makes the service
// refuse the proof, and the holder is waiting.
func (p *Prover) now() time.Time {
	_, now := p.Client.ServiceTimes()
	return now
}
