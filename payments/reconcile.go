package payments

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// ReconcileParams says what to reconcile.
type ReconcileParams struct {
	// Account is the client, or [OwnAccount]. With [SelfServeServices], it can be empty.
	Account dapi.ClientID
	// From and To are the period, without its end. To must be after From.
	From, To time.Time
}

// Reconcile compares the payments of an account with its ledger over a period: each paid payment must have an entry,
// and each entry a payment. Run it once a day. It reads the ledger from a day before the period until now, and all
// payments of the account. A payment that was paid less than a minute ago need not have an entry yet.
//
// The report has the differences. One of them is also stored: if the payout itself says that its money came back, the
// payment is [moneymovement.PaymentCameBack] from then on. The service attributes a refund to a payout by its amount
// alone, so an entry of the ledger does not prove it.
//
// Escrows are compared by their id, and transfers of the app API are not compared: they are not in this ledger.
func (p *Processor) Reconcile(ctx context.Context, params ReconcileParams) (Report, error) {
	if err := p.ready(ctx, "Reconcile"); err != nil {
		return Report{}, err
	}
	if !params.From.Before(params.To) {
		return Report{}, invalid("Reconcile", "to", "out_of_range", "must be after from")
	}
	params.Account = p.services.accountID(params.Account)
	if err := checkAccount("Reconcile", params.Account); err != nil {
		return Report{}, err
	}
	if err := p.services.check("Reconcile", &Record{Kind: KindPayout, Account: params.Account}); err != nil {
		return Report{}, err
	}
	of := p.services.accountOf(&Record{Account: params.Account})
	report, err := p.compare(ctx, of.transactions, params)
	if err != nil {
		return report, err
	}
	for i := range report.Differences {
		if d := &report.Differences[i]; d.Kind == MoneyCameBack && d.PayoutID != "" {
			if err := p.storeReturn(ctx, of, d); err != nil {
				return report, err
			}
		}
	}
	return report, nil
}

// compare reads and compares. A payment of the period can have an older entry: it was in doubt, and a search found it
// days later. The ledger is then read again from the first use of its key on.
func (p *Processor) compare(
	ctx context.Context, ledger *dapi.Transactions, params ReconcileParams,
) (Report, error) {
	for since := params.From.Add(-24 * time.Hour); ; {
		c := newComparison(params.From, params.To)
		c.asOf = p.config.Now().Add(-ledgerMargin) // the ledger is read before the payments
		entries := ledger.All(ctx, dapi.ListTransactionsParams{Since: since, Limit: 100})
		report, err := c.run(p.List(ctx, ListParams{Account: &params.Account}), entries)
		earlier := c.missing.Add(-clockMargin)
		if c.missing.IsZero() || !earlier.Before(since) || ctx.Err() != nil {
			return report, err
		}
		since = earlier
	}
}

// ledgerMargin is how long the entry of a payment may take to show in the ledger, by clocks that differ.
const ledgerMargin = time.Minute

// storeReturn stores that a payment came back, if its payout says so.
func (p *Processor) storeReturn(ctx context.Context, of account, d *Difference) error {
	payout, err := of.payouts.Get(ctx, d.PayoutID)
	if err != nil {
		return err
	}
	result := payoutResult(payout)
	if result.state != moneymovement.PaymentCameBack {
		return nil
	}
	claimed, err := p.claim(ctx, d.Key)
	if _, inProgress := errors.AsType[*CallInProgress](err); inProgress {
		return nil // a step is under way, and reads the same
	}
	if err != nil {
		return err
	}
	if err := claimed.Err(); err != nil || claimed.State == moneymovement.PaymentCameBack {
		return errors.Join(err, p.store.Postpone(ctx, claimed))
	}
	s := &progress{p: p, lease: claimed.Lease, record: claimed.Record}
	if err := s.save(ctx, claimed.cameBack(result.reason, p.config.Now().UTC()), true); err != nil {
		return err
	}
	d.State = moneymovement.PaymentCameBack
	return nil
}

// DifferenceKind says how the payments and the ledger differ.
type DifferenceKind string

// The kinds of differences.
const (
	// UnknownEntry is an entry of the ledger that no stored payment explains: your program forgot the payment, or
	// somebody else made it. A second entry with which money left for the same payout also counts.
	UnknownEntry DifferenceKind = "unknown_entry"
	// MissingEntry is a paid payment without an entry of its own in the ledger: two payments cannot share one payout.
	// It is also a payment that is stored as [moneymovement.PaymentCameBack], and whose money is not back in the
	// ledger.
	MissingEntry DifferenceKind = "missing_entry"
	// OtherAmount is a payment whose entry has another amount or asset than was asked for, with or without the fee; or
	// of which another amount came back.
	OtherAmount DifferenceKind = "other_amount"
	// MoneyCameBack is a payment that is stored as paid or completed, and whose money came back.
	MoneyCameBack DifferenceKind = "came_back"
	// PaidInLedger is a payment that the ledger shows as paid, and the store does not. A payment in doubt settles
	// itself. If it is refused or needs a decision, a person must look at it.
	PaidInLedger DifferenceKind = "paid_in_ledger"
)

// Difference is one difference between the stored payments and the ledger.
type Difference struct {
	Kind DifferenceKind
	// Key and State are those of the payment. They are empty for [UnknownEntry].
	Key   moneymovement.Key
	State moneymovement.PaymentState
	// PayoutID or EscrowID is what the payment or the entry is of. Both can be empty for an entry.
	PayoutID dapi.PayoutID
	EscrowID dapi.EscrowID
	// Entry is the entry of the ledger, nil for [MissingEntry].
	Entry *dapi.Transaction
	// Stored is the amount of the payment, and Ledger that of the entry. Nil where there is none.
	Stored, Ledger *decimal.Decimal
}

// String returns one line, safe to log.
func (d Difference) String() string {
	parts := []string{string(d.Kind)}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	add("payment", string(d.Key))
	add("is", string(d.State))
	add("payout", string(d.PayoutID))
	add("escrow", string(d.EscrowID))
	if d.Stored != nil {
		add("asked for", d.Stored.String())
	}
	if d.Entry != nil {
		add("entry", fmt.Sprintf("%s %s %s %s", d.Entry.ID, d.Entry.Type, d.Entry.Amount, d.Entry.Currency))
	}
	return strings.Join(parts, ", ")
}

// Report is the result of a reconciliation.
type Report struct {
	// From and To are the period, without its end.
	From, To time.Time
	// Matched is how many payments of the period agree with their entries.
	Matched int
	// Pending is how many of them have an entry that is not completed yet.
	Pending int
	// Differences are in the order of the entries and payments. Empty means that all is well.
	Differences []Difference
}

// String returns the report as lines of text, safe to log.
func (r Report) String() string {
	lines := []string{fmt.Sprintf("%s to %s: %d payments agree with the ledger, %d of them are pending, %d differences",
		r.From.UTC().Format(time.RFC3339), r.To.UTC().Format(time.RFC3339), r.Matched, r.Pending, len(r.Differences))}
	for _, d := range r.Differences {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

// Compare compares the payments of one account with its ledger over a period. It is what [Processor.Reconcile] does,
// for records and entries that you have. records are all payments of the account. entries are those of the ledger from
// a day before the period until now: money can come back on any later day. Transfers of the app API are not in this
// ledger, and are left out.
//
// An error of either sequence ends the comparison, and is returned. The exception is *[Unreadable]: the comparison
// continues, the report has the other payments, and the error names those that could not be read.
func Compare(
	records iter.Seq2[Record, error], entries iter.Seq2[dapi.Transaction, error], from, to time.Time,
) (Report, error) {
	return newComparison(from, to).run(records, entries)
}

func newComparison(from, to time.Time) *comparison {
	return &comparison{report: Report{From: from, To: to}, payouts: map[dapi.PayoutID]*entriesOf{},
		escrows: map[dapi.EscrowID]*entriesOf{}, asOf: to}
}

func (c *comparison) run(
	records iter.Seq2[Record, error], entries iter.Seq2[dapi.Transaction, error],
) (Report, error) {
	for entry, err := range entries {
		if err != nil {
			return c.report, err
		}
		c.addEntry(entry)
	}
	var unread error
	for record, err := range records {
		if _, damaged := errors.AsType[*Unreadable](err); damaged {
			unread = errors.Join(unread, err)
			continue
		}
		if err != nil {
			return c.report, err
		}
		c.compare(&record)
	}
	c.addUnknown()
	return c.report, unread
}

type comparison struct {
	report  Report
	asOf    time.Time // a payment that was paid later need not have an entry yet
	missing time.Time // the earliest first use of a payment that has no entry; zero if all have one
	payouts map[dapi.PayoutID]*entriesOf
	escrows map[dapi.EscrowID]*entriesOf
	order   []*entriesOf
}

// entriesOf are the entries of one payout or escrow.
type entriesOf struct {
	debit, refund *dapi.Transaction
	duplicates    []*dapi.Transaction // more of a payout, with which money has left
	moneyLeft     bool                // out is an entry with which money has left
	explained     bool
	matched       bool // by a payment of which it is the entry
}

// addEntry takes an entry of a payment. The others, such as deposits, do not concern the store.
func (c *comparison) addEntry(entry dapi.Transaction) {
	var of *entriesOf
	switch {
	case entry.Type == dapi.TransactionTypePayout, entry.Type == dapi.TransactionTypeRefund:
		of = entriesFor(c, c.payouts, entry.PayoutID)
	case entry.Type == dapi.TransactionTypeEscrow:
		of = entriesFor(c, c.escrows, entry.EscrowID)
	default:
		return
	}
	left := entry.Direction == dapi.TransactionDirectionOut && entry.Status != dapi.TransactionStatusFailed
	switch {
	case entry.Type == dapi.TransactionTypeRefund:
		of.refund = &entry
	case of.debit == nil:
		of.debit = &entry
	case entry.Type == dapi.TransactionTypePayout && of.moneyLeft && left && entry.ID != of.debit.ID:
		of.duplicates = append(of.duplicates, &entry)
	case left || !of.moneyLeft && entry.Direction == dapi.TransactionDirectionOut:
		of.debit = &entry
	}
	of.moneyLeft = of.moneyLeft || left
}

// entriesFor returns the entries of an id. An entry without an id stays on its own.
func entriesFor[ID ~string](c *comparison, known map[ID]*entriesOf, id ID) *entriesOf {
	if of := known[id]; of != nil && id != "" {
		return of
	}
	of := new(entriesOf)
	c.order = append(c.order, of)
	if id != "" {
		known[id] = of
	}
	return of
}

// compare compares one payment.
func (c *comparison) compare(r *Record) {
	var of *entriesOf
	switch r.Kind {
	case KindPayout:
		of = c.payouts[r.PayoutID]
	case KindEscrow:
		of = c.escrows[r.EscrowID]
	case KindEscrowAction: // the entries of an escrow do not say which action they are of
		if of = c.escrows[r.EscrowID]; of != nil {
			of.explained = true
		}
		return
	default:
		return
	}
	paid := r.State == moneymovement.PaymentPaid || r.State == moneymovement.PaymentCompleted ||
		r.State == moneymovement.PaymentCameBack
	if of == nil || of.matched && paid {
		if paid && c.inPeriod(r.PaidAt) && r.PaidAt.Before(c.asOf) {
			c.addDifference(MissingEntry, r, nil)
			if c.missing.IsZero() || r.FirstUsed.Before(c.missing) {
				c.missing = r.FirstUsed
			}
		}
		return
	}
	of.explained, of.matched = true, of.matched || paid
	if !c.inPeriod(of.first().CreatedAt) && !(of.refund != nil && c.inPeriod(of.refund.CreatedAt)) {
		return
	}
	failed := of.debit != nil && of.debit.Status == dapi.TransactionStatusFailed
	switch {
	case of.refund != nil && paid && r.State != moneymovement.PaymentCameBack:
		c.addDifference(MoneyCameBack, r, of.refund)
	case failed && paid && r.State != moneymovement.PaymentCameBack:
		c.addDifference(MoneyCameBack, r, of.debit)
	case of.debit != nil && !r.hasAmountOf(of.debit):
		c.addDifference(OtherAmount, r, of.debit)
	case of.refund != nil && !r.hasAmountOf(of.refund):
		c.addDifference(OtherAmount, r, of.refund)
	case r.State == moneymovement.PaymentCameBack && of.refund == nil && !failed:
		c.addDifference(MissingEntry, r, nil)
	case !paid && !failed && of.refund == nil:
		c.addDifference(PaidInLedger, r, of.debit)
	default:
		c.report.Matched++
		if of.debit != nil && !of.debit.Status.Final() {
			c.report.Pending++
		}
	}
}

func (of *entriesOf) first() *dapi.Transaction {
	if of.debit != nil {
		return of.debit
	}
	return of.refund
}

func (c *comparison) inPeriod(t time.Time) bool {
	return !t.Before(c.report.From) && t.Before(c.report.To)
}

// hasAmountOf reports an entry with the amount and the asset that the payment asked for. The description does not say
// whether the fee is part of the amount.
func (r *Record) hasAmountOf(entry *dapi.Transaction) bool {
	wanted, asset := r.amount()
	if wanted == nil {
		return true
	}
	if entry.Currency != "" && !strings.EqualFold(string(entry.Currency), string(asset)) {
		return false
	}
	allowed := []decimal.Decimal{*wanted}
	if r.Quote != nil {
		allowed = append(allowed, wanted.Add(r.Quote.Fee), r.Quote.SourceAmount)
	}
	return slices.ContainsFunc(allowed, entry.Amount.Equal)
}

func (r *Record) amount() (*decimal.Decimal, dapi.Asset) {
	switch {
	case r.Payout != nil:
		return &r.Payout.Amount, r.Payout.Currency
	case r.Escrow != nil:
		return &r.Escrow.Amount, r.Escrow.Currency
	}
	return nil, ""
}

func (c *comparison) addDifference(kind DifferenceKind, r *Record, entry *dapi.Transaction) {
	d := Difference{Kind: kind, Entry: entry}
	if r != nil {
		d.Key, d.State, d.PayoutID, d.EscrowID = r.Key, r.State, r.PayoutID, r.EscrowID
		d.Stored, _ = r.amount()
	}
	if entry != nil {
		d.Ledger = &entry.Amount
		if r == nil {
			d.PayoutID, d.EscrowID = entry.PayoutID, entry.EscrowID
		}
	}
	c.report.Differences = append(c.report.Differences, d)
}

// addUnknown reports the entries of the period that no payment explains.
func (c *comparison) addUnknown() {
	for _, of := range c.order {
		entries := of.duplicates
		if !of.explained {
			entries = append([]*dapi.Transaction{of.debit, of.refund}, entries...)
		}
		for _, entry := range entries {
			if entry != nil && c.inPeriod(entry.CreatedAt) {
				c.addDifference(UnknownEntry, nil, entry)
			}
		}
	}
}
