// Package precheck lets package payments refuse what a flow of package dapi would refuse, before it stores a payment.
// Package dapi sets the functions.
package precheck

// The checks return *errors.InvalidInput. payouts and escrows are the services that will pay, nil if they are not
// known. payout is a dapi.PayoutCreate with its dapi.Bounds, and deal a dapi.EscrowCreate.
var (
	Payout func(payouts, payout, bounds any, key string) error
	Deal   func(escrows, deal any, key string) error
	Action func(deal any, id, action, key string) error
)
