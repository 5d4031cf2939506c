// Package cardproof has wallets sign for card details as the service wants it: with its time, and with each second
// once.
package cardproof

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/nonce"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Prover makes the proofs of one client's calls. It is safe for concurrent use.
type Prover struct {
	Client *transport.Client
	nonces nonce.Source
}

// Prove has a card's wallet sign for one call of an operation. A signature that comes when the proof's lifetime is
// over, as a person's can, is *errors.InvalidInput.
func (p *Prover) Prove(
	ctx context.Context, op *transport.Operation, id string, wallet model.CardSigner,
) (model.CardDetailsProof, error) {
	proof, err := model.ProveCard(ctx, wallet, id, p.nonces.Next(p.now()))
	if err != nil {
		return model.CardDetailsProof{}, err
	}
	return proof, nonce.Fresh(op, proof.Nonce, p.now())
}

// now is the time that a nonce is valid at: the service's, by its last answer. A card's holder waits, so that even one
// answer is believed.
func (p *Prover) now() time.Time {
	_, now := p.Client.ServiceTimes()
	return now
}
