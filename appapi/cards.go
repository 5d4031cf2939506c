package appapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/cardproof"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Cards issues payment cards and manages them. Limits and amounts are exact decimals in the currency of the card's
// Limit.
type Cards struct {
	low    lowLevel
	proofs cardproof.Prover
}

// CardFormatVirtual is the only format that the description shows. There can be others.
const CardFormatVirtual CardFormat = "virtual"

// List returns all cards, and the status of the owner's verification for cards.
func (s *Cards) List(ctx context.Context, options ...moneymovement.CallOption) (*model.CardList, error) {
	return transport.OrNew(s).low.ListCards(ctx, options)
}

// Create issues a card. A second call can issue a second card, so Create is never sent twice. If its response is lost,
// it fails with *errors.InDoubt: read [Cards.List] to find the card.
func (s *Cards) Create(ctx context.Context, card CardCreate, options ...moneymovement.CallOption) (*model.Card, error) {
	return transport.OrNew(s).low.CreateCard(ctx, &card, options)
}

// Get returns one card, without its number and security code.
func (s *Cards) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Card, error) {
	return transport.OrNew(s).low.GetCard(ctx, id, options)
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
	if err := transport.OrNew(s).low.ready(ctx, &opRevealCardDetails); err != nil {
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
	return transport.OrNew(s).low.RevealCardDetails(ctx, id, &proof, options)
}

// SetLabel gives a card a label of your choice, and returns the card. An empty label clears it.
func (s *Cards) SetLabel(
	ctx context.Context, id, label string, options ...moneymovement.CallOption,
) (*model.Card, error) {
	return transport.OrNew(s).low.SetCardLabel(ctx, id, &cardLabelUpdate{model.Set(label)}, options).
		ValueOrRead(reading(ctx, id, transport.OrNew(s).low, lowLevel.GetCard))
}

// SetLimit changes the limits of a card, and returns the card. A field of limit that is not set leaves that limit as it
// is. Limits are amounts in the currency of the card's Limit. The description does not say what a null limit means; the
// service decides.
//
// The description does not show the body. The SDK assumes the same fields as in the Limit of a card: dailyLimit,
// monthlyLimit and lifetimeLimit, as JSON numbers.
func (s *Cards) SetLimit(
	ctx context.Context, id string, limit CardLimitUpdate, options ...moneymovement.CallOption,
) (*model.Card, error) {
	low := transport.OrNew(s).low
	return low.SetCardLimit(ctx, id, &limit, options).ValueOrRead(reading(ctx, id, low, lowLevel.GetCard))
}

// Freeze freezes a card, so that it cannot spend, and returns the card.
func (s *Cards) Freeze(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Card, error) {
	low := transport.OrNew(s).low
	return low.FreezeCard(ctx, id, options).ValueOrRead(reading(ctx, id, low, lowLevel.GetCard))
}

// Unfreeze lets a frozen card spend again, and returns the card.
func (s *Cards) Unfreeze(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Card, error) {
	low := transport.OrNew(s).low
	return low.UnfreezeCard(ctx, id, options).ValueOrRead(reading(ctx, id, low, lowLevel.GetCard))
}

// KYCLink returns the link to the page where the holder completes the verification for cards. The service creates the
// link on the first call, and returns the same link later. The description does not show the response: URL and Status
// are assumed.
func (s *Cards) KYCLink(ctx context.Context, options ...moneymovement.CallOption) (*KYCLink, error) {
	return transport.OrNew(s).low.CreateCardKYCLink(ctx, options).ValueOrZero()
}

// PreApprove allows the card issuer to take up to approval.Amount of approval.Currency from the wallet. The description
// does not show the body or the response: their fields are assumed. It also does not say whether two pre-approvals add
// up, so PreApprove is never sent twice. If its response is lost, it fails with *errors.InDoubt.
func (s *Cards) PreApprove(
	ctx context.Context, approval CardPreApprovalCreate, options ...moneymovement.CallOption,
) (*CardPreApproval, error) {
	return transport.OrNew(s).low.PreApproveCard(ctx, &approval, options).ValueOrZero()
}
