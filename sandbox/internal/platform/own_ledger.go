package platform

import (
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// The methods of money that uses no bank rail, in the words of a contract's priority methods.
const (
	MethodCrypto   = "crypto"
	MethodInternal = "internal"
	MethodRefund   = "refund"
)

// Entry is a transaction of an account with its method.
type Entry struct {
	platformwire.Transaction
	Method        string // a bank method, or crypto, internal, refund
	BankAccountID string // the virtual account that received it
}

// Transactions returns a page of the account's ledger, newest first, and the number of all visible entries. Without
// visible, all are.
func (o Own) Transactions(visible func(Entry) bool, page wire.Page) (items []Entry, total int, err error) {
	t, h, err := o.enter()
	defer o.platform.leave()
	if err != nil {
		return nil, 0, err
	}
	items, total = wire.Newest(h.history.all.list,
		func(recorded *transaction) bool {
			return !recorded.forgotten() && (visible == nil || visible(t.entryOf(recorded.Transaction)))
		},
		func(recorded *transaction) Entry { return t.entryOf(recorded.Transaction) }, page)
	return items, total, nil
}

func (t *turn) entryOf(recorded platformwire.Transaction) Entry {
	entry := Entry{Transaction: recorded, Method: MethodCrypto}
	if received := t.payins[recorded.PayinID]; received != nil && received.over != nil {
		entry.Method, entry.BankAccountID = string(received.over.Method), received.over.ID
	}
	if sent := t.payouts[recorded.PayoutID]; sent != nil {
		entry.Method = sent.Contact.To.method()
	}
	if recorded.Type == platformwire.TransactionTypeRefund {
		entry.Method = MethodRefund
	}
	return entry
}

// method returns the method by which money reaches a destination.
func (d destination) method() string {
	switch {
	case d.Bank != nil:
		return string(d.Bank.AccountType)
	case d.Email != nil:
		return MethodInternal
	default:
		return MethodCrypto
	}
}
