package card

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"time"
)

const (
	paymentSystem = "test"
	// issuer begins every number: 9 is the first digit that no payment network uses.
	issuer       = "999999"
	numberLength = 16
	validYears   = 3
)

// secrets are what a card hides.
type secrets struct{ Number, CVV, Expiry string }

// newSecrets draws a number with a valid check digit, which no network routes.
func newSecrets(now time.Time) (secrets, error) {
	account, err := digits(numberLength - len(issuer) - 1)
	if err != nil {
		return secrets{}, err
	}
	cvv, err := digits(3)
	if err != nil {
		return secrets{}, err
	}
	body := issuer + account
	return secrets{
		Number: body + checkDigit(body),
		CVV:    cvv,
		Expiry: now.AddDate(validYears, 0, 0).Format("01/06"),
	}, nil
}

// digits draws random decimal digits.
func digits(count int) (string, error) {
	bound := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(count)), nil)
	drawn, err := rand.Int(rand.Reader, bound)
	if err != nil {
		return "", fmt.Errorf("card: no randomness: %w", err)
	}
	text := drawn.String()
	return strings.Repeat("0", count-len(text)) + text, nil
}

// checkDigit is the Luhn digit (ISO/IEC 7812-1) that follows a number.
func checkDigit(body string) string {
	sum := 0
	for i := range len(body) {
		digit := int(body[len(body)-1-i] - '0')
		if i%2 == 0 {
			if digit *= 2; digit > 9 {
				digit -= 9
			}
		}
		sum += digit
	}
	return string(rune('0' + (10-sum%10)%10))
}
