package card

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

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
