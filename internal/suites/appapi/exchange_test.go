package appapi_test

import (
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/model"
)

const (
	id1 = "11111111-1111-4111-8111-111111111111"
	id2 = "22222222-2222-4222-8222-222222222222"
)

func price(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func number(text string) model.Number { return model.NewNumber(price(text)) }

func lines() []model.LineItem {
	return []model.LineItem{{Name: "Design", Quantity: number("1.5"), Price: price("80.00")}}
}
