package card

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// nonceLifetime is the largest difference between a nonce and the host's time.
const nonceLifetime = 5 * time.Minute

// message returns the text that the card's wallet signs. The description says that a confirmation message is signed,
// and does not show its text.
func message(cardID string, nonce int64) []byte {
	return fmt.Appendf(nil, "Reveal card %s at %d", cardID, nonce)
}

// Reveal returns number and security code to the holder of the card's wallet.
func (c *Cards) Reveal(
	ctx context.Context, id string, proof commonwire.CardDetailsProof,
) (commonwire.CardDetails, error) {
	// before any lock
	signer, refused := wire.SignerOf(message(id, proof.Nonce), proof.MessageSignature,
		c.config.Settings().RequireLowS)
	t := c.begin(ctx)
	defer c.commit()
	card, err := t.card(id)
	if err != nil {
		return commonwire.CardDetails{}, err
	}
	switch {
	case t.pending(card):
		return commonwire.CardDetails{}, wire.Conflict("The card is not active yet.")
	case !t.isFresh(proof.Nonce):
		return commonwire.CardDetails{},
			wire.InvalidField("nonce", "nonce_expired",
				"The nonce is more than five minutes from the service's time.")
	case refused != nil:
		return commonwire.CardDetails{}, refused
	case !strings.EqualFold(signer, card.Wallet):
		return commonwire.CardDetails{}, wire.SignatureInvalid()
	case card.Nonces[proof.Nonce]:
		return commonwire.CardDetails{}, wire.Conflict("The nonce was used before.")
	}
	t.useNonce(card, proof.Nonce)
	return commonwire.CardDetails{
		CardNumber: card.Secrets.Number, CVV: card.Secrets.CVV, ExpiryDate: card.Secrets.Expiry,
	}, nil
}

// isFresh reports whether a nonce is a Unix time near now. Bounds are compared in whole seconds, so that no nonce
// overflows. The first is rounded up and the last down, because neither may differ by more than the lifetime.
func (t *txn) isFresh(nonce int64) bool {
	first := t.now.Add(-nonceLifetime + time.Second - time.Nanosecond).Unix()
	return nonce >= first && nonce <= t.now.Add(nonceLifetime).Unix()
}

// useNonce stores a nonce for as long as it is valid.
func (t *txn) useNonce(c *card, nonce int64) {
	for used := range c.Nonces {
		if !t.isFresh(used) {
			delete(c.Nonces, used)
		}
	}
	c.Nonces[nonce] = true
	t.putCard(c)
}

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
