package platform

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"

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

// isForgotten reports whether the transaction was deleted.
func (t *transaction) isForgotten() bool { return t.ID == "" }

// record adds a transaction to an account's ledger.
func (t *txn) record(h *holder, entry platformwire.Transaction) *transaction {
	return t.recordOf("", h, entry)
}

// recordOf is record for the money of a payout.
func (t *txn) recordOf(payoutID string, h *holder, entry platformwire.Transaction) *transaction {
	t.sequence++
	entry.ID = newID("tx_")
	recorded := &transaction{Transaction: entry, Sequence: t.sequence, Account: &h.Key, Of: payoutID}
	h.history.add(recorded)
	t.store.transactions.Put(recorded)
	t.transactionCount++
	return recorded
}

// drop removes a transaction from an account's ledger. It accepts nil.
func (t *txn) drop(h *holder, entry *transaction) {
	if entry == nil || entry.isForgotten() {
		return
	}
	t.store.transactions.Delete(entry)
	h.history.drop(entry)
	t.transactionCount--
}

// ListTransactions lists the account's ledger, newest first. A cursor continues after the last entry of its page, so
// that new entries neither repeat nor hide others.
func (p *Platform) ListTransactions(
	ctx context.Context, params platformwire.ListTransactionsParams,
) (wire.Response, error) {
	c := wire.CallerOf(ctx)
	list := queryOf(c, "ListTransactions", string(params.Type), strconv.FormatInt(params.Since.UnixNano(), 10))
	before, err := list.position(params.Cursor, math.MaxInt) // without a cursor, a number above every entry
	if err != nil {
		return wire.Response{}, err
	}
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Response{}, err
	}
	older, size, last := h.history.of(params.Type).before(before), pageSize(params.Limit), 0
	page := platformwire.TransactionPage{Items: make([]platformwire.Transaction, 0, min(size, len(older)))}
	for _, entry := range slices.Backward(older) {
		if entry.latest < params.Since.UnixMilli() {
			break // so is everything before it
		}
		if entry.isForgotten() || entry.CreatedAt.Before(params.Since) {
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
		e.list = slices.DeleteFunc(e.list, (*transaction).isForgotten)
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

// defaultPageSize is the page size of a list request without a limit.
const defaultPageSize = 50

// pageSize returns the requested page size. The gate has checked it.
func pageSize(requested int) int {
	if requested <= 0 {
		return defaultPageSize
	}
	return requested
}

// query identifies a list with its filters, without its page size. A cursor is valid for one query.
type query [sha256.Size]byte

func queryOf(c wire.Caller, operation string, filters ...string) query {
	parts := append([]string{c.Owner, c.Account, operation}, filters...)
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// bindingSize is how many bytes of a query's digest a cursor has.
const bindingSize = 16

// cursor returns the opaque text for a position in the list.
func (q query) cursor(position int) string {
	return base64.RawURLEncoding.EncodeToString(strconv.AppendInt(q[:bindingSize:bindingSize], int64(position), 10))
}

// position reads a cursor. An empty cursor is the start. A cursor of another query is refused as invalid_cursor.
func (q query) position(cursor string, start int) (int, error) {
	if cursor == "" {
		return start, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || !bytes.HasPrefix(text, q[:bindingSize]) {
		return 0, wire.InvalidCursor()
	}
	position, err := strconv.Atoi(string(text[bindingSize:]))
	// base64 ignores line ends, and a number may be written +7
	if err != nil || position < 0 || q.cursor(position) != cursor {
		return 0, wire.InvalidCursor()
	}
	return position, nil
}
