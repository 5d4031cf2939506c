package platform

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// transaction is an entry of an account's ledger, as the account sees it.
type transaction struct {
	platformwire.Transaction
	Sequence int // grows with every transaction of the host
	Account  holderKey
	Of       string // the payout, if there is one

	forgotten bool
}

// record adds a transaction to an account's ledger.
func (t *turn) record(h *holder, entry platformwire.Transaction) *transaction {
	return t.recordOf("", h, entry)
}

// recordOf is record for the money of a payout.
func (t *turn) recordOf(payoutID string, h *holder, entry platformwire.Transaction) *transaction {
	t.sequence++
	entry.ID = newID("tx_")
	recorded := &transaction{Transaction: entry, Sequence: t.sequence, Account: h.Key, Of: payoutID}
	h.transactions = append(h.transactions, recorded)
	t.kept.transactions.Put(recorded)
	t.recorded++
	return recorded
}

// drop removes a transaction from an account's ledger. It accepts nil.
func (t *turn) drop(h *holder, entry *transaction) {
	if entry == nil || entry.forgotten {
		return
	}
	t.kept.transactions.Delete(entry)
	*entry = transaction{Sequence: entry.Sequence, forgotten: true}
	t.recorded--
	if h.forgotten++; 2*h.forgotten > len(h.transactions) {
		h.transactions = slices.DeleteFunc(h.transactions, func(entry *transaction) bool { return entry.forgotten })
		h.forgotten = 0
	}
}

// ListTransactions lists the account's ledger, newest first. A cursor continues after the last entry of its page, so
// that new entries neither repeat nor hide others.
func (p *Platform) ListTransactions(
	ctx context.Context, params platformwire.ListTransactionsParams,
) (serve.Answer, error) {
	c := caller.From(ctx)
	list := queryOf(c, "ListTransactions", string(params.Type), strconv.FormatInt(params.Since.UnixNano(), 10))
	before, err := list.position(params.Cursor, math.MaxInt) // without a cursor, a number above every entry
	if err != nil {
		return serve.Answer{}, err
	}
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(c)
	if err != nil {
		return serve.Answer{}, err
	}
	page := platformwire.TransactionPage{Items: []platformwire.Transaction{}}
	size := pageSize(params.Limit)
	last := 0
	for i := len(h.transactions) - 1; i >= 0; i-- {
		entry := h.transactions[i]
		if entry.Sequence >= before || !entry.matches(params.Type, params.Since) {
			continue
		}
		if len(page.Items) == size {
			page.NextCursor = list.cursor(last)
			break
		}
		page.Items = append(page.Items, entry.Transaction)
		last = entry.Sequence
	}
	return serve.OK(page).Lean(), nil
}

func (t *transaction) matches(kind platformwire.TransactionType, since time.Time) bool {
	return !t.forgotten && (kind == "" || t.Type == kind) && !t.CreatedAt.Before(since)
}
