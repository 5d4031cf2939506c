package dapi

import "github.com/moneymovement/moneymovement-go/model"

// Signed returns the amount with its sign: positive if the money arrived, negative if it left. The unit is Currency.
// The status does not matter: the amount of a pending or failed entry is returned, too. If this version does not know
// the direction, ok is false and the amount is zero.
func (t Transaction) Signed() (amount model.Decimal, ok bool) {
	switch t.Direction {
	case TransactionDirectionIn:
		return t.Amount, true
	case TransactionDirectionOut:
		return t.Amount.Neg(), true
	}
	return amount, false
}
