package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/cardproof"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Cards are payment cards.
//
// Source: Card.
type Cards struct {
	low    lowLevel
	proofs cardproof.Prover
}

// List answers the account's cards, and how far the account is from having one. What the answer leaves out has the
// stated defaults: KYCStatus not_started, usages 0, the rest false.
func (s *Cards) List(ctx context.Context, options ...moneymovement.CallOption) (*model.CardList, error) {
	return transport.Of(s).low.ListCards(ctx, options)
}

// Details reveals a card's number and security code to the holder of the wallet that the card spends from: wallet signs
// a confirmation message, with the service's time as a nonce of its own, and the service answers within five minutes of
// that. [model.CardMessage] has it sign another text. A wallet that is not the card's is the service's refusal. If the
// wallet signs only when the five minutes are over, as one that asks a person can, nothing is sent and the error is
// *errors.InvalidInput. Number, security code and expiry are [moneymovement.Secret]s, which do not print: their Reveal
// method gives the text to show to the holder.
//
// The proof of a call whose answer is lost is sent again, as it is. A service that took it the first time can refuse it
// as used then, as *errors.Conflict: call again, which signs anew.
//
// Source: Reference endpoints, card details; Limits, Lifetimes (card details nonce).
func (s *Cards) Details(
	ctx context.Context, id string, wallet model.CardSigner, options ...moneymovement.CallOption,
) (*model.CardDetails, error) {
	if err := transport.Of(s).low.ready(ctx, &opRevealCardDetails); err != nil {
		return nil, err
	}
	proof, err := s.proofs.Prove(ctx, &opRevealCardDetails, id, wallet)
	if err != nil {
		return nil, err
	}
	return s.DetailsWithProof(ctx, id, proof, options...)
}

// DetailsWithProof is [Cards.Details] with a proof that was signed in another place, such as by [model.ProveCard] on
// the holder's device.
func (s *Cards) DetailsWithProof(
	ctx context.Context, id string, proof model.CardDetailsProof, options ...moneymovement.CallOption,
) (*model.CardDetails, error) {
	return transport.Of(s).low.RevealCardDetails(ctx, id, &proof, options)
}
