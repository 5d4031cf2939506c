package appapi

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// CheckSend returns the *errors.InvalidInput with which [Transfers.Send] refuses this input before it sends anything,
// or nil. Use it to refuse a transfer that you store and send later.
func CheckSend(to Destination, key moneymovement.Key) error {
	if err := transport.RequireKey(&opCreateTransfer, string(key)); err != nil {
		return err
	}
	body, err := checkedTransfer(to)
	if err != nil {
		return err
	}
	return transport.Validate(opCreateTransfer.ID, body.validate)
}
