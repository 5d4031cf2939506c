package card

import (
	"context"

	"github.com/oapi-codegen/nullable"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

const (
	limitCurrency = "USD"
	limitDecimals = 2
	limitDigits   = 18
)

// limits are what a card may spend.
type limits struct{ Daily, Monthly, Lifetime decimal.Decimal }

func firstLimits() limits {
	return limits{Daily: decimal.NewFromInt(1_000), Monthly: decimal.NewFromInt(10_000),
		Lifetime: decimal.NewFromInt(100_000)}
}

// SetLimit sets the given limits, and keeps the others.
func (c *Cards) SetLimit(ctx context.Context, id string, body appwire.CardLimitUpdate) (commonwire.Card, error) {
	return c.on(ctx, id, func(t *turn, found *card) error {
		changed := found.Limits
		wrong := set("dailyLimit", &changed.Daily, body.DailyLimit)
		wrong = append(wrong, set("monthlyLimit", &changed.Monthly, body.MonthlyLimit)...)
		wrong = append(wrong, set("lifetimeLimit", &changed.Lifetime, body.LifetimeLimit)...)
		if len(wrong) == 0 {
			wrong = changed.ordered()
		}
		if len(wrong) > 0 {
			return wire.ValidationFailed("", wrong...)
		}
		found.Limits = changed
		t.changed(found)
		return nil
	})
}

// set sets a given limit, or returns what is wrong with it. Null changes nothing, because every card has limits.
func set(field string, limit *decimal.Decimal, member nullable.Nullable[wire.Number]) []wire.Field {
	given, err := member.Get()
	if err != nil {
		return nil
	}
	wrong := func(code, message string) []wire.Field {
		return []wire.Field{{Field: field, Code: code, Message: message}}
	}
	switch {
	case given.NumDigits() > limitDigits || given.Exponent() > limitDigits || given.Exponent() < -limitDigits:
		return wrong("decimal_max_digits", "A limit has at most 18 digits.")
	case given.IsNegative():
		return wrong("greater_than_equal", "A limit must not be negative.")
	case !given.Equal(given.Truncate(limitDecimals)):
		return wrong("amount_precision", "The currency has 2 decimals.")
	}
	*limit = given.Decimal
	return nil
}

// ordered reports a limit that is more than the limit of a longer time.
func (l limits) ordered() []wire.Field {
	var wrong []wire.Field
	if l.Daily.GreaterThan(l.Monthly) {
		wrong = append(wrong,
			wire.Field{Field: "dailyLimit", Code: "less_than_equal",
				Message: "The daily limit must not be more than the monthly limit."})
	}
	if l.Monthly.GreaterThan(l.Lifetime) {
		wrong = append(wrong, wire.Field{Field: "monthlyLimit", Code: "less_than_equal",
			Message: "The monthly limit must not be more than the lifetime limit."})
	}
	return wrong
}
