package payments

import (
	"context"
	"time"

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
// Deals are compared by their id, and transfers of the app API are not compared: they are not in this ledger.
func (p *Processor) Reconcile(ctx context.Context, params ReconcileParams) (Report, error) {
	if err := p.ready(ctx, "Reconcile"); err != nil {
		return Report{}, err
	}
	if !params.From.Before(params.To) {
		return Report{}, invalid("Reconcile", "to", "out_of_range", "must be after from")
	}
	params.Account = p.services.named(params.Account)
	if err := checkAccount("Reconcile", params.Account); err != nil {
		return Report{}, err
	}
	if err := p.services.check("Reconcile", &Record{Kind: KindPayout, Account: params.Account}); err != nil {
		return Report{}, err
	}
	of := p.services.of(&Record{Account: params.Account})
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

// compare reads and compares. A payment of the period can have an older entry: it was in doubt, and was found days
// later. The ledger is then read again from the first use of its key on.
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
	shown := payoutShows(payout)
	if shown.state != moneymovement.PaymentCameBack {
		return nil
	}
	claimed, err := p.claim(ctx, d.Key)
	if _, busy := errors.AsType[*CallInProgress](err); busy {
		return nil // a look is under way, and sees the same
	}
	if err != nil {
		return err
	}
	if err := claimed.Err(); err != nil || claimed.State == moneymovement.PaymentCameBack {
		return errors.Join(err, p.store.Postpone(ctx, claimed))
	}
	s := &progress{p: p, lease: claimed.Lease, record: claimed.Record}
	if err := s.save(ctx, claimed.returned(shown.reason, p.config.Now().UTC()), true); err != nil {
		return err
	}
	d.State = moneymovement.PaymentCameBack
	return nil
}
