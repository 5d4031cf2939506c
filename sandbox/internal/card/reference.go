package card

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// Reference answers the reference endpoints' operations on cards, for the generated server.
type Reference struct{ *Cards }

// ListCards implements the operation of that name.
func (a Reference) ListCards(ctx context.Context, _ referencewire.ListCardsRequestObject) (referencewire.ListCardsResponseObject, error) {
	return referencewire.ListCards200JSONResponse(a.List(ctx)), nil
}

// RevealCardDetails implements the operation of that name.
func (a Reference) RevealCardDetails(ctx context.Context, r referencewire.RevealCardDetailsRequestObject) (referencewire.RevealCardDetailsResponseObject, error) {
	answer, err := a.Reveal(ctx, r.CardID, *r.Body)
	return referencewire.RevealCardDetails200JSONResponse(answer), err
}
