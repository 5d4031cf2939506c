package platform

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// transaction is an entry of an account's ledger, as the account sees it.
type transaction struct {
	platformwire.Transaction
	Sequence int        // grows with every transaction of the host
	Account  *holderKey // the holder's own
	Of       string     // the payout, if there is one

	// latest is the largest CreatedAt up to this entry, in Unix milliseconds. A payout that is settled late has a
	// CreatedAt in the past.
	latest int64
}

// forgotten reports whether the transaction was deleted.
func (t *transaction) forgotten() bool { return t.ID == "" }

// record adds a transaction to an account's ledger.
func (t *turn) record(h *holder, entry platformwire.Transaction) *transaction {
	return t.recordOf("", h, entry)
}

// recordOf is record for the money of a payout.
func (t *turn) recordOf(payoutID string, h *holder, entry platformwire.Transaction) *transaction {
	t.sequence++
	entry.ID = newID("tx_")
	recorded := &transaction{Transaction: entry, Sequence: t.sequence, Account: &h.Key, Of: payoutID}
	h.history.add(recorded)
	t.kept.transactions.Put(recorded)
	t.recorded++
	return recorded
}

// drop removes a transaction from an account's ledger. It accepts nil.
func (t *turn) drop(h *holder, entry *transaction) {
	if entry == nil || entry.forgotten() {
		return
	}
	t.kept.transactions.Delete(entry)
	h.history.drop(entry)
	t.recorded--
}

// ListTransactions lists the account's ledger, newest first. A cursor continues after the last entry of its page, so
// that new entries neither repeat nor hide others.
func (p *Platform) ListTransactions(
	ctx context.Context, params platformwire.ListTransactionsParams,
) (wire.Answer, error) {
	c := wire.CallerOf(ctx)
	list := queryOf(c, "ListTransactions", string(params.Type), strconv.FormatInt(params.Since.UnixNano(), 10))
	before, err := list.position(params.Cursor, math.MaxInt) // without a cursor, a number above every entry
	if err != nil {
		return wire.Answer{}, err
	}
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Answer{}, err
	}
	older, size, last := h.history.of(params.Type).before(before), pageSize(params.Limit), 0
	page := platformwire.TransactionPage{Items: make([]platformwire.Transaction, 0, min(size, len(older)))}
	for _, entry := range slices.Backward(older) {
		if entry.latest < params.Since.UnixMilli() {
			break // so is everything before it
		}
		if entry.forgotten() || entry.CreatedAt.Before(params.Since) {
			continue
		}
		if len(page.Items) == size {
			page.NextCursor = list.cursor(last)
			break
		}
		page.Items = append(page.Items, entry.Transaction)
		last = entry.Sequence
	}
	return wire.OK(page).Lean(), nil
}
