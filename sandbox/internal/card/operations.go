package card

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// App serves the app API's operations on cards.
type App struct{ *Cards }

// ListCards implements the operation of that name.
func (a App) ListCards(ctx context.Context) (serve.Answer, error) {
	return serve.OK(a.List(ctx)), nil
}

// CreateCard implements the operation of that name.
func (a App) CreateCard(ctx context.Context, _ appwire.CardCreate) (serve.Answer, error) {
	answer, err := a.Create(ctx)
	return serve.Created(answer), err
}

// GetCard implements the operation of that name.
func (a App) GetCard(ctx context.Context, cardID string) (serve.Answer, error) {
	answer, err := a.Get(ctx, cardID)
	return serve.OK(answer), err
}

// RevealCardDetails implements the operation of that name.
func (a App) RevealCardDetails(
	ctx context.Context, cardID string, body commonwire.CardDetailsProof,
) (serve.Answer, error) {
	answer, err := a.Reveal(ctx, cardID, body)
	return serve.OK(answer), err
}

// SetCardLabel implements the operation of that name.
func (a App) SetCardLabel(ctx context.Context, cardID string, body appwire.CardLabelUpdate) (serve.Answer, error) {
	answer, err := a.SetLabel(ctx, cardID, serve.Value(body.Label))
	return serve.OK(answer), err
}

// SetCardLimit implements the operation of that name.
func (a App) SetCardLimit(ctx context.Context, cardID string, body appwire.CardLimitUpdate) (serve.Answer, error) {
	answer, err := a.SetLimit(ctx, cardID, body)
	return serve.OK(answer), err
}

// FreezeCard implements the operation of that name.
func (a App) FreezeCard(ctx context.Context, cardID string) (serve.Answer, error) {
	answer, err := a.Freeze(ctx, cardID, true)
	return serve.OK(answer), err
}

// UnfreezeCard implements the operation of that name.
func (a App) UnfreezeCard(ctx context.Context, cardID string) (serve.Answer, error) {
	answer, err := a.Freeze(ctx, cardID, false)
	return serve.OK(answer), err
}

// CreateCardKYCLink implements the operation of that name.
func (a App) CreateCardKYCLink(ctx context.Context) (serve.Answer, error) {
	return serve.OK(a.KYCLink(ctx)), nil
}

// PreApproveCard implements the operation of that name.
func (a App) PreApproveCard(ctx context.Context, body appwire.CardPreApprovalCreate) (serve.Answer, error) {
	answer, err := a.PreApprove(ctx, body)
	return serve.OK(answer), err
}

// Reference serves the reference endpoints' operations on cards.
type Reference struct{ *Cards }

// ListCards implements the operation of that name.
func (a Reference) ListCards(ctx context.Context) (serve.Answer, error) {
	return serve.OK(a.List(ctx)), nil
}

// RevealCardDetails implements the operation of that name.
func (a Reference) RevealCardDetails(
	ctx context.Context, cardID string, body commonwire.CardDetailsProof,
) (serve.Answer, error) {
	answer, err := a.Reveal(ctx, cardID, body)
	return serve.OK(answer), err
}
