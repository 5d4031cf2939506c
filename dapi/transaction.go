package dapi

import "github.com/moneymovement/moneymovement-go/model"

// Signed returns the amount with its sign: positive if the money arrived, negative if it left. The unit is Currency. It
// includes entries that are pending or have failed. ok is false if this version does not know the direction; the amount
// is zero then.
func (t Transaction) Signed() (amount model.Decimal, ok bool) {
	switch t.Direction {
	case TransactionDirectionIn:
		return t.Amount, true
	case TransactionDirectionOut:
		return t.Amount.Neg(), true
	}
	return amount, false
}
