package model

import (
	"context"
	"fmt"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// CardSigner is the wallet that a card spends from. The service reveals the card's details only with the wallet's
// signature. Use a *wallet.Key of package signing/wallet, or your own type, for example for a hardware wallet. It must
// be safe for concurrent use.
type CardSigner interface {
	// Address returns the wallet's address, which begins with "0x".
	Address() string
	// SignMessage signs message as an EIP-191 personal message. It returns "0x" and R, S and V in hexadecimal digits.
	SignMessage(ctx context.Context, message []byte) (signature string, err error)
}

// WithCardMessage returns a signer that signs the text that format returns, instead of the assumed text "Reveal card
// <card id> at <nonce>". The service's description does not show the text. nonce is a Unix time in seconds. If format
// is nil, WithCardMessage returns signer.
func WithCardMessage(signer CardSigner, format func(cardID string, nonce int64) string) CardSigner {
	if signer == nil || format == nil {
		return signer
	}
	return messageSigner{signer, format}
}

// messageSigner signs a text of the caller.
type messageSigner struct {
	CardSigner

	format func(cardID string, nonce int64) string
}

// SignCardDetails signs the confirmation message for one reveal of a card's details. The service accepts the proof
// once, within five minutes after at by its own clock. If the card id is invalid or the wallet has no address,
// SignCardDetails signs nothing and fails with *errors.InvalidInput. If the wallet returns an error, the error is
// *errors.NotDelivered, which wraps it.
//
// Cards.Details of packages appapi and refapi calls it. Call it yourself only if the program that signs is not the one
// that sends the call.
func SignCardDetails(ctx context.Context, wallet CardSigner, cardID string, at time.Time) (CardDetailsProof, error) {
	if err := transport.Validate(revealOperation, func(c *transport.Check) {
		c.Context(ctx)
		c.Missing("card_id", cardID == "")
		c.Segment("card_id", cardID)
		c.Missing("wallet", wallet == nil || wallet.Address() == "")
	}); err != nil {
		return CardDetailsProof{}, err
	}
	message, nonce := revealCard, at.Unix()
	if own, ok := wallet.(messageSigner); ok {
		message = own.format
	}
	signature, err := wallet.SignMessage(ctx, []byte(message(cardID, nonce)))
	if err != nil {
		return CardDetailsProof{}, &errors.NotDelivered{CallInfo: errors.CallInfo{Operation: revealOperation}, Err: err}
	}
	return CardDetailsProof{MessageSignature: moneymovement.NewSecret(signature), Nonce: nonce}, nil
}

// revealOperation is the operation's name in the descriptions of both surfaces.
const revealOperation = "RevealCardDetails"

func revealCard(cardID string, nonce int64) string {
	return fmt.Sprintf("Reveal card %s at %d", cardID, nonce)
}

// String returns a text that shows no more than the last four digits of the card number.
func (d CardDetails) String() string {
	number := d.CardNumber.Reveal()
	if len(number) < 12 {
		return "card details (redacted)"
	}
	return "card details (redacted, ending " + number[len(number)-4:] + ")"
}

// plainCardList is CardList without its methods.
type plainCardList CardList

// UnmarshalJSON reads the list. If the JSON has no kycStatus, KYCStatus is not_started, as the service's description
// states.
func (l *CardList) UnmarshalJSON(b []byte) error {
	var list plainCardList
	if err := wire.Unmarshal(b, &list); err != nil {
		return err
	}
	if list.KYCStatus == "" {
		list.KYCStatus = KYCStatusNotStarted
	}
	*l = CardList(list)
	return nil
}
