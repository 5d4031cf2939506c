package card

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// maxAllowanceDigits limits the amount of a pre-approval.
const maxAllowanceDigits = 36

// allowance is the amount that the card programme may take from the wallet.
type allowance struct {
	Amount   *decimal.Decimal // nil without a limit
	Currency string
	Hash     string
}

// verification is the progress of the card programme's verification.
func (t *txn) verification() commonwire.KYCStatus {
	switch {
	case t.RequestedAt.IsZero():
		return commonwire.KYCStatusNotStarted
	case t.now.Before(t.RequestedAt.Add(time.Duration(t.settings.CardActiveAfter))):
		return commonwire.KYCStatusRequested
	default:
		return commonwire.KYCStatusApproved
	}
}

// KYCLink creates or returns the link at which the holder is verified for a card.
func (c *Cards) KYCLink(ctx context.Context) appwire.KYCLink {
	t := c.begin(ctx)
	defer c.commit()
	if t.RequestedAt.IsZero() {
		t.RequestedAt = t.now
		t.putProgramme()
	}
	return appwire.KYCLink{
		URL:    "https://verify.example.com/cards/" + wire.CallerOf(ctx).Owner,
		Status: t.verification(),
	}
}

// PreApprove allows the card programme to take money from the wallet.
func (c *Cards) PreApprove(ctx context.Context, body appwire.CardPreApprovalCreate) (appwire.CardPreApproval, error) {
	if body.Currency == "" {
		body.Currency = "USDC"
	}
	if err := checkAllowance(body); err != nil {
		return appwire.CardPreApproval{}, err
	}
	t := c.begin(ctx)
	defer c.commit()
	if t.Allowance == nil || !t.Allowance.matches(body) {
		t.Allowance = &allowance{Amount: body.Amount, Currency: body.Currency, Hash: newHash()}
		t.putProgramme()
	}
	return appwire.CardPreApproval{Approved: true, TxHash: t.Allowance.Hash}, nil
}

// matches reports whether the request asks for the same allowance.
func (a *allowance) matches(body appwire.CardPreApprovalCreate) bool {
	if a.Amount == nil || body.Amount == nil {
		return a.Amount == body.Amount && a.Currency == body.Currency
	}
	return a.Amount.Equal(*body.Amount) && a.Currency == body.Currency
}

func checkAllowance(body appwire.CardPreApprovalCreate) error {
	const tokenDecimals = 6
	switch amount := body.Amount; {
	case body.Currency != "USDC" && body.Currency != "EURC":
		return wire.InvalidField("currency", "enum", "A wallet holds USDC and EURC.")
	case amount == nil:
		return nil
	case amount.NumDigits() > maxAllowanceDigits || amount.Exponent() < -maxAllowanceDigits:
		return wire.InvalidField("amount", "decimal_max_digits", "An amount has at most 36 digits.")
	case !amount.IsPositive():
		return wire.InvalidField("amount", "greater_than", "The amount must be greater than zero.")
	case !amount.Equal(amount.Truncate(tokenDecimals)):
		return wire.InvalidField("amount", "amount_precision", "The token has 6 decimals.")
	}
	return nil
}

// newHash returns a random transaction hash.
func newHash() string {
	var hash [32]byte
	_, _ = rand.Read(hash[:]) // never fails
	return "0x" + hex.EncodeToString(hash[:])
}
