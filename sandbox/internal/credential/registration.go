package credential

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// usdcDecimals is how finely USDC counts.
const usdcDecimals = 6

// DefaultApp is the app that keys belong to when none is named.
const DefaultApp = "Sandbox app"

// Registration asks for an app key, which the service's own application would issue. How it does is not shown.
type Registration struct {
	// Email names the account that the app acts for; the host's first account when absent.
	Email string `json:"email,omitzero"`
	// App is the name of the owning app; [DefaultApp] when absent.
	App string `json:"app,omitzero"`
	// Scopes are what the key may do; all of them when absent.
	Scopes []string `json:"scopes,omitzero"`
	// SpendLimit is what the key may spend in all, in USDC; without limit when absent.
	SpendLimit *decimal.Decimal `json:"spendLimit,omitzero"`
}

// key reads a registration; refusals name the fields.
func (r Registration) key() (*AppKey, error) {
	var wrong []refuse.Field
	for i, scope := range r.Scopes {
		if !slices.Contains(Scopes(), scope) {
			wrong = append(wrong, refuse.Field{Field: fmt.Sprintf("scopes.%d", i), Code: "enum",
				Message: "There is no such scope."})
		}
	}
	if limit := r.SpendLimit; limit != nil {
		switch {
		case limit.IsNegative():
			wrong = append(wrong, refuse.Field{Field: "spendLimit", Code: "greater_than_equal",
				Message: "A limit must not be negative."})
		case limit.Exponent() < -usdcDecimals:
			wrong = append(wrong,
				refuse.Field{Field: "spendLimit", Code: "amount_precision", Message: "USDC has 6 decimals."})
		}
	}
	if len(wrong) > 0 {
		return nil, refuse.ValidationFailed("", wrong...)
	}
	key := &AppKey{AppName: strings.TrimSpace(r.App), Scopes: slices.Clone(r.Scopes), SpendLimit: r.SpendLimit}
	if key.AppName == "" {
		key.AppName = DefaultApp
	}
	if r.Scopes == nil {
		key.Scopes = Scopes()
	}
	return key, nil
}
