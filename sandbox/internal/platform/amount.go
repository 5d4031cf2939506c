package platform

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// maxAmountDigits limits the amounts that the host computes with.
const maxAmountDigits = 36

// checkAmount refuses an amount that is not positive, is too long, or has more decimals than its token.
func checkAmount(amount decimal.Decimal, decimals int32) error {
	return checkAmountOf("amount", amount, decimals)
}

// checkAmountOf is checkAmount for a field with another name.
func checkAmountOf(field string, amount decimal.Decimal, decimals int32) error {
	exponent := int(amount.Exponent()) // above zero only for a JSON number with an exponent, such as 1e2
	switch {
	case amount.NumDigits()+max(exponent, 0) > maxAmountDigits || exponent < -maxAmountDigits:
		return refuse.InvalidField(field, "decimal_max_digits",
			fmt.Sprintf("An amount has at most %d digits.", maxAmountDigits))
	case !amount.IsPositive():
		return refuse.InvalidField(field, "greater_than", "The amount must be greater than zero.")
	case !amount.Equal(amount.Truncate(decimals)):
		return refuse.InvalidField(field, "amount_precision", fmt.Sprintf("The currency has %d decimals.", decimals))
	}
	return nil
}
