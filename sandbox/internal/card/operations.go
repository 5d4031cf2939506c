package card

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// App serves the app API's operations on cards.
type App struct{ *Cards }

// ListCards implements the operation of that name.
func (a App) ListCards(ctx context.Context) (wire.Answer, error) {
	return wire.OK(a.List(ctx)), nil
}

// CreateCard implements the operation of that name.
func (a App) CreateCard(ctx context.Context, _ appwire.CardCreate) (wire.Answer, error) {
	answer, err := a.Create(ctx)
	return wire.Created(answer), err
}

// GetCard implements the operation of that name.
func (a App) GetCard(ctx context.Context, cardID string) (wire.Answer, error) {
	answer, err := a.Get(ctx, cardID)
	return wire.OK(answer), err
}

// RevealCardDetails implements the operation of that name.
func (a App) RevealCardDetails(
	ctx context.Context, cardID string, body commonwire.CardDetailsProof,
) (wire.Answer, error) {
	answer, err := a.Reveal(ctx, cardID, body)
	return wire.OK(answer), err
}

// SetCardLabel implements the operation of that name.
func (a App) SetCardLabel(ctx context.Context, cardID string, body appwire.CardLabelUpdate) (wire.Answer, error) {
	answer, err := a.SetLabel(ctx, cardID, wire.Value(body.Label))
	return wire.OK(answer), err
}

// SetCardLimit implements the operation of that name.
func (a App) SetCardLimit(ctx context.Context, cardID string, body appwire.CardLimitUpdate) (wire.Answer, error) {
	answer, err := a.SetLimit(ctx, cardID, body)
	return wire.OK(answer), err
}

// FreezeCard implements the operation of that name.
func (a App) FreezeCard(ctx context.Context, cardID string) (wire.Answer, error) {
	answer, err := a.Freeze(ctx, cardID, true)
	return wire.OK(answer), err
}

// UnfreezeCard implements the operation of that name.
func (a App) UnfreezeCard(ctx context.Context, cardID string) (wire.Answer, error) {
	answer, err := a.Freeze(ctx, cardID, false)
	return wire.OK(answer), err
}

// CreateCardKYCLink implements the operation of that name.
func (a App) CreateCardKYCLink(ctx context.Context) (wire.Answer, error) {
	return wire.OK(a.KYCLink(ctx)), nil
}

// PreApproveCard implements the operation of that name.
func (a App) PreApproveCard(ctx context.Context, body appwire.CardPreApprovalCreate) (wire.Answer, error) {
	answer, err := a.PreApprove(ctx, body)
	return wire.OK(answer), err
}

// Reference serves the reference endpoints' operations on cards.
type Reference struct{ *Cards }

// ListCards implements the operation of that name.
func (a Reference) ListCards(ctx context.Context) (wire.Answer, error) {
	return wire.OK(a.List(ctx)), nil
}

// RevealCardDetails implements the operation of that name.
func (a Reference) RevealCardDetails(
	ctx context.Context, cardID string, body commonwire.CardDetailsProof,
) (wire.Answer, error) {
	answer, err := a.Reveal(ctx, cardID, body)
	return wire.OK(answer), err
}
