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
	// issuer is the beginning of every number. No payment network has numbers that begin with 9.
	issuer       = "999999"
	numberLength = 16
	validYears   = 3
)

// secrets are the number and the security code of a card.
type secrets struct{ Number, CVV, Expiry string }

// newSecrets makes a random number with a valid check digit. No network routes it.
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

// digits returns random decimal digits.
func digits(count int) (string, error) {
	bound := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(count)), nil)
	drawn, err := rand.Int(rand.Reader, bound)
	if err != nil {
		return "", fmt.Errorf("card: no randomness: %w", err)
	}
	text := drawn.String()
	return strings.Repeat("0", count-len(text)) + text, nil
}

// checkDigit returns the Luhn digit (ISO/IEC 7812-1) of a number.
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
