package card

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refapi"
)

// Reference answers the reference endpoints' operations on cards, for the generated server.
type Reference struct{ *Cards }

// ListCards implements the operation of that name.
func (a Reference) ListCards(ctx context.Context, _ refapi.ListCardsRequestObject) (refapi.ListCardsResponseObject, error) {
	return refapi.ListCards200JSONResponse(a.List(ctx)), nil
}

// RevealCardDetails implements the operation of that name.
func (a Reference) RevealCardDetails(ctx context.Context, r refapi.RevealCardDetailsRequestObject) (refapi.RevealCardDetailsResponseObject, error) {
	answer, err := a.Reveal(ctx, r.CardID, *r.Body)
	return refapi.RevealCardDetails200JSONResponse(answer), err
}
