package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/cardproof"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Cards lists payment cards, and reveals their details to the holder. Limits and amounts are exact decimals in the
// currency of the card's Limit.
type Cards struct {
	low    lowLevel
	proofs cardproof.Prover
}

// List returns the account's cards, and the status of the owner's verification for cards. If the response leaves a
// field out, the field has its default: not_started for KYCStatus, 0 for amounts, and false for the others.
func (s *Cards) List(ctx context.Context, options ...moneymovement.CallOption) (*model.CardList, error) {
	return transport.Of(s).low.ListCards(ctx, options)
}

// Details returns a card's number, security code and expiry date. They are [moneymovement.Secret] values, which do not
// print: call Reveal to show them to the holder.
//
// The wallet that the card spends from signs a confirmation message. A signature can be used once, within five minutes,
// so each call needs a new one. If the wallet takes longer than that to sign, for example because it asks a person,
// Details fails with *errors.InvalidInput and sends nothing. The service refuses the signature of another wallet.
//
// The description does not show the confirmation message. The SDK assumes one; [model.WithCardMessage] replaces it.
//
// If the response is lost, the same signature is sent again. A service that has already accepted it can refuse it as a
// conflict. The wallet then signs once more. If that is refused as well, Details fails with *errors.Conflict.
func (s *Cards) Details(
	ctx context.Context, id string, wallet model.CardSigner, options ...moneymovement.CallOption,
) (*model.CardDetails, error) {
	if err := transport.Of(s).low.ready(ctx, &opRevealCardDetails); err != nil {
		return nil, err
	}
	return s.proofs.Reveal(ctx, &opRevealCardDetails, id, wallet,
		func(proof model.CardDetailsProof) (*model.CardDetails, error) {
			return s.DetailsWithProof(ctx, id, proof, options...)
		})
}

// DetailsWithProof is [Cards.Details] with a signature that was made elsewhere, such as on the holder's device. To make
// one, use [model.SignCardDetails].
func (s *Cards) DetailsWithProof(
	ctx context.Context, id string, proof model.CardDetailsProof, options ...moneymovement.CallOption,
) (*model.CardDetails, error) {
	return transport.Of(s).low.RevealCardDetails(ctx, id, &proof, options)
}
