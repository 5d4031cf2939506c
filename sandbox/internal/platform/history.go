package platform

import (
	"cmp"
	"slices"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// history is an account's ledger as the account sees it, in the order of the sequence numbers.
type history struct {
	all    entries
	latest int64 // the largest CreatedAt so far, in Unix milliseconds
	byType map[platformwire.TransactionType]*entries
}

// of returns the transactions of a type, or all.
func (h *history) of(kind platformwire.TransactionType) *entries {
	if kind == "" {
		return &h.all
	}
	found := h.byType[kind]
	if found == nil {
		found = &entries{}
		if h.byType == nil {
			h.byType = map[platformwire.TransactionType]*entries{}
		}
		h.byType[kind] = found
	}
	return found
}

// add adds the newest transaction.
func (h *history) add(t *transaction) {
	h.latest = max(h.latest, t.CreatedAt.UnixMilli())
	t.latest = h.latest
	h.all.add(t)
	h.of(t.Type).add(t)
}

// drop forgets a transaction.
func (h *history) drop(t *transaction) {
	kind := t.Type
	*t = transaction{Sequence: t.Sequence, latest: t.latest}
	h.all.shrink()
	h.of(kind).shrink()
}

// entries are transactions, oldest first. Forgotten ones keep their places until they are half of the list.
type entries struct {
	list      []*transaction
	forgotten int
}

func (e *entries) add(t *transaction) { e.list = append(e.list, t) }

// shrink notes that one more transaction is forgotten.
func (e *entries) shrink() {
	if e.forgotten++; 2*e.forgotten > len(e.list) {
		e.list = slices.DeleteFunc(e.list, (*transaction).forgotten)
		e.forgotten = 0
	}
}

// before returns the transactions with a smaller sequence number.
func (e *entries) before(sequence int) []*transaction {
	end, _ := slices.BinarySearchFunc(e.list, sequence, func(t *transaction, sequence int) int {
		return cmp.Compare(t.Sequence, sequence)
	})
	return e.list[:end]
}
