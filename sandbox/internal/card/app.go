package card

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/given"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
)

// App answers the app API's operations on cards, for the generated server.
type App struct{ *Cards }

// ListCards implements the operation of that name.
func (a App) ListCards(ctx context.Context, _ appwire.ListCardsRequestObject) (appwire.ListCardsResponseObject, error) {
	return appwire.ListCards200JSONResponse(a.List(ctx)), nil
}

// CreateCard implements the operation of that name.
func (a App) CreateCard(ctx context.Context, _ appwire.CreateCardRequestObject) (appwire.CreateCardResponseObject, error) {
	answer, err := a.Create(ctx)
	return appwire.CreateCard201JSONResponse(answer), err
}

// GetCard implements the operation of that name.
func (a App) GetCard(ctx context.Context, r appwire.GetCardRequestObject) (appwire.GetCardResponseObject, error) {
	answer, err := a.Get(ctx, r.CardID)
	return appwire.GetCard200JSONResponse(answer), err
}

// RevealCardDetails implements the operation of that name.
func (a App) RevealCardDetails(ctx context.Context, r appwire.RevealCardDetailsRequestObject) (appwire.RevealCardDetailsResponseObject, error) {
	answer, err := a.Reveal(ctx, r.CardID, *r.Body)
	return appwire.RevealCardDetails200JSONResponse(answer), err
}

// SetCardLabel implements the operation of that name.
func (a App) SetCardLabel(ctx context.Context, r appwire.SetCardLabelRequestObject) (appwire.SetCardLabelResponseObject, error) {
	answer, err := a.SetLabel(ctx, r.CardID, given.Value(r.Body.Label))
	return appwire.SetCardLabel200JSONResponse(answer), err
}

// SetCardLimit implements the operation of that name.
func (a App) SetCardLimit(ctx context.Context, r appwire.SetCardLimitRequestObject) (appwire.SetCardLimitResponseObject, error) {
	answer, err := a.SetLimit(ctx, r.CardID, *r.Body)
	return appwire.SetCardLimit200JSONResponse(answer), err
}

// FreezeCard implements the operation of that name.
func (a App) FreezeCard(ctx context.Context, r appwire.FreezeCardRequestObject) (appwire.FreezeCardResponseObject, error) {
	answer, err := a.Freeze(ctx, r.CardID, true)
	return appwire.FreezeCard200JSONResponse(answer), err
}

// UnfreezeCard implements the operation of that name.
func (a App) UnfreezeCard(ctx context.Context, r appwire.UnfreezeCardRequestObject) (appwire.UnfreezeCardResponseObject, error) {
	answer, err := a.Freeze(ctx, r.CardID, false)
	return appwire.UnfreezeCard200JSONResponse(answer), err
}

// CreateCardKYCLink implements the operation of that name.
func (a App) CreateCardKYCLink(ctx context.Context, _ appwire.CreateCardKYCLinkRequestObject) (appwire.CreateCardKYCLinkResponseObject, error) {
	return appwire.CreateCardKYCLink200JSONResponse(a.KYCLink(ctx)), nil
}

// PreApproveCard implements the operation of that name.
func (a App) PreApproveCard(ctx context.Context, r appwire.PreApproveCardRequestObject) (appwire.PreApproveCardResponseObject, error) {
	answer, err := a.PreApprove(ctx, *r.Body)
	return appwire.PreApproveCard200JSONResponse(answer), err
}
