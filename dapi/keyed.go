package dapi

import (
	"github.com/google/uuid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// keyed answers the key of a flow, the caller's or a fresh one, with the options by which each of its calls carries that key.
func keyed(options []moneymovement.CallOption) ([]moneymovement.CallOption, string) {
	call := transport.CallOf(options)
	if call.KeySet {
		return options, call.Key
	}
	key := uuid.NewString()
	return append(options[:len(options):len(options)], moneymovement.IdempotencyKey(moneymovement.Key(key))), key
}
