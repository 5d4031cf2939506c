package appapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/cardproof"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Cards are payment cards.
//
// Source: App API, Cards.
type Cards struct {
	low    lowLevel
	proofs cardproof.Prover
}

// CardFormatVirtual is the format that the description shows. The set is open.
//
// Source: App API, Cards.
const CardFormatVirtual CardFormat = "virtual"

// List answers all cards, and how far the account is from having one.
func (s *Cards) List(ctx context.Context, options ...moneymovement.CallOption) (*model.CardList, error) {
	return transport.Of(s).low.ListCards(ctx, options)
}

// Create issues a card. Repeating it can issue a second one, so that it is never sent twice.
func (s *Cards) Create(ctx context.Context, card CardCreate, options ...moneymovement.CallOption) (*model.Card, error) {
	return transport.Of(s).low.CreateCard(ctx, &card, options)
}

// Get answers one card, without its secrets.
func (s *Cards) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Card, error) {
	return transport.Of(s).low.GetCard(ctx, id, options)
}

// Details reveals a card's number and security code. The card's wallet signs a confirmation message that the service
// takes for five minutes and once, so that each call signs anew. Another wallet's signature is refused by the service.
// If the wallet signs only when the five minutes are over, as one that asks a person can, nothing is sent and the error
// is *errors.InvalidInput. With [model.WithCardMessage] the wallet signs another text. Number, security code and expiry are
// [moneymovement.Secret]s, which do not print: their Reveal method gives the text to show to the holder.
//
// The proof of a call whose answer is lost is sent again, as it is. A service that took it the first time can refuse it
// as used then, as *errors.Conflict: call again, which signs anew.
//
// Source: App API, Cards; Limits, Lifetimes (card details nonce).
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

// DetailsWithProof is [Cards.Details] with a proof that was signed in another place; see model.ProveCard.
func (s *Cards) DetailsWithProof(
	ctx context.Context, id string, proof model.CardDetailsProof, options ...moneymovement.CallOption,
) (*model.CardDetails, error) {
	return transport.Of(s).low.RevealCardDetails(ctx, id, &proof, options)
}

// SetLabel gives a card a label of the caller's own. An empty one clears it.
func (s *Cards) SetLabel(
	ctx context.Context, id, label string, options ...moneymovement.CallOption,
) (*model.Card, error) {
	return transport.Of(s).low.SetCardLabel(ctx, id, &CardLabelUpdate{model.Set(label)}, options).
		Or(reading(ctx, id, transport.Of(s).low.GetCard))
}

// SetLimit sets the limits that are given and leaves the others; what null means is for the service to say. The
// description does not show the body: its fields are assumed to be those of the card.
func (s *Cards) SetLimit(
	ctx context.Context, id string, limit CardLimitUpdate, options ...moneymovement.CallOption,
) (*model.Card, error) {
	return transport.Of(s).low.SetCardLimit(ctx, id, &limit, options).Or(reading(ctx, id, transport.Of(s).low.GetCard))
}

// Freeze stops a card from spending.
func (s *Cards) Freeze(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Card, error) {
	return transport.Of(s).low.FreezeCard(ctx, id, options).Or(reading(ctx, id, transport.Of(s).low.GetCard))
}

// Unfreeze lets a frozen card spend again.
func (s *Cards) Unfreeze(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Card, error) {
	return transport.Of(s).low.UnfreezeCard(ctx, id, options).Or(reading(ctx, id, transport.Of(s).low.GetCard))
}

// KYCLink creates the link under which the holder verifies themselves for a card, or fetches the one that exists.
func (s *Cards) KYCLink(ctx context.Context, options ...moneymovement.CallOption) (*KYCLink, error) {
	return transport.Of(s).low.CreateCardKYCLink(ctx, options).OrZero()
}

// PreApprove allows the card programme to draw on the wallet. The description does not show the body: its fields are
// assumed. Whether a second pre-approval adds up is not shown, so that it is never sent twice.
func (s *Cards) PreApprove(
	ctx context.Context, approval CardPreApprovalCreate, options ...moneymovement.CallOption,
) (*CardPreApproval, error) {
	return transport.Of(s).low.PreApproveCard(ctx, &approval, options).OrZero()
}
