package card

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/appapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/given"
)

// App answers the app API's operations on cards, for the generated server.
type App struct{ *Cards }

// ListCards implements the operation of that name.
func (a App) ListCards(ctx context.Context, _ appapi.ListCardsRequestObject) (appapi.ListCardsResponseObject, error) {
	return appapi.ListCards200JSONResponse(a.List(ctx)), nil
}

// CreateCard implements the operation of that name.
func (a App) CreateCard(ctx context.Context, _ appapi.CreateCardRequestObject) (appapi.CreateCardResponseObject, error) {
	answer, err := a.Create(ctx)
	return appapi.CreateCard201JSONResponse(answer), err
}

// GetCard implements the operation of that name.
func (a App) GetCard(ctx context.Context, r appapi.GetCardRequestObject) (appapi.GetCardResponseObject, error) {
	answer, err := a.Get(ctx, r.CardID)
	return appapi.GetCard200JSONResponse(answer), err
}

// RevealCardDetails implements the operation of that name.
func (a App) RevealCardDetails(ctx context.Context, r appapi.RevealCardDetailsRequestObject) (appapi.RevealCardDetailsResponseObject, error) {
	answer, err := a.Reveal(ctx, r.CardID, *r.Body)
	return appapi.RevealCardDetails200JSONResponse(answer), err
}

// SetCardLabel implements the operation of that name.
func (a App) SetCardLabel(ctx context.Context, r appapi.SetCardLabelRequestObject) (appapi.SetCardLabelResponseObject, error) {
	answer, err := a.SetLabel(ctx, r.CardID, given.Value(r.Body.Label))
	return appapi.SetCardLabel200JSONResponse(answer), err
}

// SetCardLimit implements the operation of that name.
func (a App) SetCardLimit(ctx context.Context, r appapi.SetCardLimitRequestObject) (appapi.SetCardLimitResponseObject, error) {
	answer, err := a.SetLimit(ctx, r.CardID, *r.Body)
	return appapi.SetCardLimit200JSONResponse(answer), err
}

// FreezeCard implements the operation of that name.
func (a App) FreezeCard(ctx context.Context, r appapi.FreezeCardRequestObject) (appapi.FreezeCardResponseObject, error) {
	answer, err := a.Freeze(ctx, r.CardID, true)
	return appapi.FreezeCard200JSONResponse(answer), err
}

// UnfreezeCard implements the operation of that name.
func (a App) UnfreezeCard(ctx context.Context, r appapi.UnfreezeCardRequestObject) (appapi.UnfreezeCardResponseObject, error) {
	answer, err := a.Freeze(ctx, r.CardID, false)
	return appapi.UnfreezeCard200JSONResponse(answer), err
}

// CreateCardKYCLink implements the operation of that name.
func (a App) CreateCardKYCLink(ctx context.Context, _ appapi.CreateCardKYCLinkRequestObject) (appapi.CreateCardKYCLinkResponseObject, error) {
	return appapi.CreateCardKYCLink200JSONResponse(a.KYCLink(ctx)), nil
}

// PreApproveCard implements the operation of that name.
func (a App) PreApproveCard(ctx context.Context, r appapi.PreApproveCardRequestObject) (appapi.PreApproveCardResponseObject, error) {
	answer, err := a.PreApprove(ctx, *r.Body)
	return appapi.PreApproveCard200JSONResponse(answer), err
}
