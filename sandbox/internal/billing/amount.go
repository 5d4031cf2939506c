package billing

import (
	"fmt"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// maxDigits limits the amounts that the host computes with.
const maxDigits = 36

// decimalsOf returns how many decimals an amount of a currency has.
func decimalsOf(currency commonwire.InvoiceCurrency) int32 {
	switch currency {
	case commonwire.InvoiceCurrencyJPY:
		return 0
	case commonwire.InvoiceCurrencyUSD, commonwire.InvoiceCurrencyEUR, commonwire.InvoiceCurrencyGBP,
		commonwire.InvoiceCurrencyCHF,
		commonwire.InvoiceCurrencyCAD, commonwire.InvoiceCurrencyAUD, commonwire.InvoiceCurrencyNZD,
		commonwire.InvoiceCurrencySEK,
		commonwire.InvoiceCurrencyNOK, commonwire.InvoiceCurrencyAED, commonwire.InvoiceCurrencyHKD,
		commonwire.InvoiceCurrencyBRL,
		commonwire.InvoiceCurrencyMXN:
		return 2
	case commonwire.InvoiceCurrencyUSDC, commonwire.InvoiceCurrencyUSDT:
		return 6
	default:
		return 18
	}
}

// checkAmount returns what is wrong with an amount, as field errors, or nil.
func checkAmount(field string, amount decimal.Decimal, decimals int32) []wire.Field {
	if wrong := checkNumber(field, amount.Abs(), decimals); wrong != nil || amount.IsPositive() {
		return wrong
	}
	return []wire.Field{{Field: field, Code: "greater_than", Message: "The amount must be greater than zero."}}
}

// checkNumber is checkAmount for the price or the quantity of a line. The description states no bound for them, so
// either can be zero.
func checkNumber(field string, amount decimal.Decimal, decimals int32) []wire.Field {
	wrong := func(code, message string) []wire.Field {
		return []wire.Field{{Field: field, Code: code, Message: message}}
	}
	switch {
	case amount.NumDigits() > maxDigits || amount.Exponent() > maxDigits || amount.Exponent() < -maxDigits:
		return wrong("decimal_max_digits", fmt.Sprintf("An amount has at most %d digits.", maxDigits))
	case amount.IsNegative():
		return wrong("greater_than_equal", "The value must not be less than zero.")
	case !amount.Equal(amount.Truncate(decimals)):
		return wrong("amount_precision", fmt.Sprintf("The currency has %d decimals.", decimals))
	}
	return nil
}

// lineTotal returns the total of a line, rounded to the decimals of the currency.
func lineTotal(line commonwire.LineItem, decimals int32) decimal.Decimal {
	return line.Price.Mul(line.Quantity.Decimal).Round(decimals)
}

// total adds up lines, or says which line is wrong. field is the name of the list.
func total(
	field string, lines []commonwire.LineItem, currency commonwire.InvoiceCurrency,
) (decimal.Decimal, []wire.Field) {
	decimals := decimalsOf(currency)
	sum := decimal.Zero
	var wrong []wire.Field
	for i, line := range lines {
		at := field + "." + strconv.Itoa(i)
		problems := append(
			checkNumber(at+".quantity", line.Quantity.Decimal, maxDigits),
			checkNumber(at+".price", line.Price, decimals)...,
		)
		if line.Name == "" {
			problems = append(problems,
				wire.Field{Field: at + ".name", Code: "string_too_short",
					Message: "A line must say what is invoiced."})
		}
		if wrong = append(wrong, problems...); len(problems) == 0 {
			sum = sum.Add(lineTotal(line, decimals))
		}
	}
	return sum, wrong
}

// invalid returns validation_failed for these fields, or nil if there are none.
func invalid(fields []wire.Field) error {
	if len(fields) == 0 {
		return nil
	}
	return wire.ValidationFailed("", fields...)
}
