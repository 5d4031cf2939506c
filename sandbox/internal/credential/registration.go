package credential

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// usdcDecimals is the number of decimals of USDC.
const usdcDecimals = 6

// DefaultApp is the app of keys that name no app.
const DefaultApp = "Sandbox app"

// Registration is a request for an app key. The service's own application issues keys in a way that the description
// does not show.
type Registration struct {
	// Email is the account that the app acts for. Without it, that is the host's first account.
	Email string `json:"email,omitzero"`
	// App is the name of the app, [DefaultApp] if empty.
	App string `json:"app,omitzero"`
	// Scopes are the scopes of the key, all scopes if empty.
	Scopes []string `json:"scopes,omitzero"`
	// SpendLimit is what the key may spend in total, in USDC. Nil means no limit.
	SpendLimit *decimal.Decimal `json:"spendLimit,omitzero"`
}

// key checks a registration. Refusals name the fields.
func (r Registration) key() (*AppKey, error) {
	var wrong []wire.Field
	for i, scope := range r.Scopes {
		if !slices.Contains(Scopes(), scope) {
			wrong = append(wrong, wire.Field{Field: fmt.Sprintf("scopes.%d", i), Code: "enum",
				Message: "There is no such scope."})
		}
	}
	if limit := r.SpendLimit; limit != nil {
		switch {
		case limit.IsNegative():
			wrong = append(wrong, wire.Field{Field: "spendLimit", Code: "greater_than_equal",
				Message: "A limit must not be negative."})
		case limit.Exponent() < -usdcDecimals:
			wrong = append(wrong,
				wire.Field{Field: "spendLimit", Code: "amount_precision", Message: "USDC has 6 decimals."})
		}
	}
	if len(wrong) > 0 {
		return nil, wire.ValidationFailed("", wrong...)
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
