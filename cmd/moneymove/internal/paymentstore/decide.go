package paymentstore

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
	sdkerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
)

// decisions are what a person can decide, with the flags that each takes.
var decisions = map[string][]string{
	"retry":        nil,
	"cancel":       {"note"},
	"new-bounds":   {"max-fee", "min-destination-amount", "destination-currency", "tolerance"},
	"was-paid":     {"payout"},
	"was-not-paid": {"note"},
}

// decisionNames are in the order of the help.
var decisionNames = []string{"retry", "cancel", "new-bounds", "was-paid", "was-not-paid"}

// decision is what the flags of the command say.
type decision struct {
	note, payout, author                   string
	maxFee, minAmount, currency, tolerance string
	yes                                    bool
	wait                                   time.Duration
	flagSet                                func(flag string) bool

	setFee, setAmount, setTolerance *decimal.Decimal // nil without its flag
}

func decideCommand(s *store) *cobra.Command {
	var d decision
	command := &cobra.Command{
		Use:   "decide KEY DECISION",
		Short: "Store what a person decides about a payment",
		Long: `Stores what a person decides about a payment, with the name of that person. It sends
nothing: the program goes on with the payment, over PostgreSQL at once, and over
a file when it next runs. docs/production.md says what each state needs. While a
call is being made for the payment, nothing is stored: try again, or give -timeout.
The decisions are:

  retry         make the same call again, after its reason was removed
  cancel        refuse the payment, from which no money can have left
  new-bounds    go on with other bounds of the price; those not given stay
  was-paid      the service's books show that it was paid
  was-not-paid  the service's books show that it was not, and never will be

The last two are the word of a person who has looked at the service's books. They
are asked for again, unless -yes is given: a wrong word can pay twice or not at
all.`,
		Example: `  moneymove payments decide invoice-42 retry -store payments.db
  moneymove payments decide invoice-42 new-bounds -max-fee 2.50 -store payments.db
  moneymove payments decide invoice-42 cancel -note "sent twice" -store payments.db
  moneymove payments decide invoice-42 retry -timeout 1m -store postgres://ops@db.internal/shop`,
		Args: cobra.ExactArgs(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return decisionNames, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	s.flags(command)
	flags := command.Flags()
	flags.StringVar(&d.author, "author", "",
		"`name` of the person who decides, which is stored with the decision (default: the user of this system)")
	flags.StringVar(&d.note, "note", "", "`text` that is stored with cancel or was-not-paid")
	flags.StringVar(&d.payout, "payout", "", "`id` of the payout, for was-paid; the program follows it from there")
	flags.StringVar(&d.maxFee, "max-fee", "", "highest fee, an `amount` in the asset that is debited, for new-bounds")
	flags.StringVar(&d.minAmount, "min-destination-amount", "", "lowest `amount` that may arrive, for new-bounds")
	flags.StringVar(&d.currency, "destination-currency", "", "`currency` of that amount, for new-bounds")
	flags.StringVar(&d.tolerance, "tolerance", "",
		"`part` by which a price may be worse than the one seen, such as 0.005, for new-bounds")
	flags.DurationVar(&d.wait, "timeout", 0, "wait up to this `time`, such as 1m, while a call is being made for it")
	flags.BoolVar(&d.yes, "yes", false, "do not ask")
	command.RunE = func(c *cobra.Command, args []string) error {
		key, err := keyOf(args[0])
		if err != nil {
			return err
		}
		d.flagSet = c.Flags().Changed
		if err := d.findAuthor(); err != nil {
			return err
		}
		if err := d.check(args[1]); err != nil {
			return err
		}
		return s.open(c.Context(), func(p *payments.Processor) error {
			after, err := d.store(c.Context(), s.app, p, key, args[1])
			if err != nil {
				return outcome(err)
			}
			return s.app.Print(after, func() app.Table { return details(after) })
		})
	}
	return command
}

// store decides about the payment as the person saw it: if it changes before, nothing is stored. While a call is being
// made for it, store waits as long as the person allows. That call may change the payment, and the decision is then for
// the payment as it left it, unless another person has decided meanwhile.
func (d *decision) store(
	ctx context.Context, a *app.App, p *payments.Processor, key moneymovement.Key, name string,
) (payments.Record, error) {
	before, err := p.Get(ctx, key)
	if err != nil {
		return payments.Record{}, err
	}
	if err := d.confirm(ctx, a, name, key); err != nil {
		return payments.Record{}, err
	}
	end, waited := time.Now().Add(d.wait), false
	for {
		after, err := p.Decide(ctx, key, d.build(name, before.Bounds).By(d.author).Seen(before))
		switch {
		case isInProgress(err) && time.Now().Before(end):
			waited = true
			select {
			case <-time.After(min(waitStep, time.Until(end))):
			case <-ctx.Done():
				return payments.Record{}, ctx.Err()
			}
		case isChanged(err) && waited && !d.asks(name): // what asks was confirmed for the payment as it was
			now, failed := p.Get(ctx, key)
			if failed != nil || !sameLast(before.Decisions, now.Decisions) {
				return after, err
			}
			before, waited = now, false
		default:
			return after, maybeStored(err)
		}
	}
}

// maybeStored adds to an error of the store that the decision may be stored. It does so for a lost lease, too: the
// decision may have been stored, and its lease released, before the response was lost. The exit code is that of another
// failure: the one for an unknown outcome lets a script run the same command again.
func maybeStored(err error) error {
	_, invalid := errors.AsType[*sdkerrors.InvalidInput](err)
	_, missing := errors.AsType[*payments.NotFound](err)
	_, refused := errors.AsType[*payments.NotPossible](err)
	_, over := errors.AsType[*payments.CapReached](err)
	if err == nil || invalid || missing || refused || over || isInProgress(err) || isUnreadable(err) {
		return err // nothing was stored
	}
	return fmt.Errorf("the decision may be stored or not: look at the payment before you decide again: %w", err)
}

func isChanged(err error) bool {
	refused, notPossible := errors.AsType[*payments.NotPossible](err)
	return notPossible && refused.Changed
}

// sameLast reports that nobody has decided between two readings of a payment. A payment keeps so many decisions only,
// so their number does not say it.
func sameLast(before, now []payments.Decided) bool {
	if len(before) == 0 || len(now) == 0 {
		return len(before) == len(now)
	}
	one, other := before[len(before)-1], now[len(now)-1]
	return one.At.Equal(other.At) && one.By == other.By && one.What == other.What
}

// waitStep is the pause between two tries while a call is being made.
const waitStep = 250 * time.Millisecond

// findAuthor takes the user of the system if the command line names nobody.
func (d *decision) findAuthor() error {
	if d.flagSet("author") {
		return nil
	}
	of, err := user.Current()
	if err != nil || of.Username == "" {
		return app.Usagef("-author is missing, and the system does not say who you are: name the person who decides")
	}
	d.author = of.Username
	return nil
}

// check refuses flags that do not belong to the decision, and amounts that are not numbers.
func (d *decision) check(name string) error {
	takes, ok := decisions[name]
	if !ok {
		return app.Usagef("%q is not a decision; give one of %s", name, strings.Join(decisionNames, ", "))
	}
	own := map[string]bool{}
	for _, flag := range takes {
		own[flag] = true
	}
	some := false
	for _, other := range decisionNames {
		for _, flag := range decisions[other] {
			if !d.flagSet(flag) {
				continue
			}
			if some = true; !own[flag] {
				return app.Usagef("-%s is not for %s: it is for %s", flag, name, other)
			}
		}
	}
	if d.wait < 0 {
		return app.Usagef("-timeout is %v: give a time of 0 or more, such as 1m", d.wait)
	}
	if name == "new-bounds" && !some {
		return app.Usagef("new-bounds needs a bound: give -max-fee, -min-destination-amount or -tolerance")
	}
	for _, amount := range []struct {
		flag, text string
		into       **decimal.Decimal
	}{
		{"max-fee", d.maxFee, &d.setFee}, {"min-destination-amount", d.minAmount, &d.setAmount},
		{"tolerance", d.tolerance, &d.setTolerance},
	} {
		if !d.flagSet(amount.flag) {
			continue
		}
		value, err := app.Amount("-"+amount.flag, amount.text)
		if err != nil {
			return err
		}
		*amount.into = &value
	}
	return nil
}

// asks reports a decision that nobody can check.
func (d *decision) asks(name string) bool { return name == "was-paid" || name == "was-not-paid" }

// confirm asks about a decision that nobody can check.
func (d *decision) confirm(ctx context.Context, a *app.App, name string, key moneymovement.Key) error {
	if d.yes || !d.asks(name) {
		return nil
	}
	sure, err := a.ConfirmWithin(ctx, fmt.Sprintf("You have looked at the service's books, and payment %s %s.",
		key, strings.ReplaceAll(name, "-", " ")))
	if err == nil && !sure {
		err = errors.New("nothing was decided")
	}
	return err
}

// build returns the decision. Bounds without a flag stay as they are.
func (d *decision) build(name string, bounds dapi.Bounds) payments.Decision {
	switch name {
	case "retry":
		return payments.Retry()
	case "cancel":
		return payments.Cancel(d.note)
	case "was-paid":
		return payments.WasPaid(dapi.PayoutID(d.payout))
	case "was-not-paid":
		return payments.WasNotPaid(d.note)
	}
	if d.setFee != nil {
		bounds.MaxFee = d.setFee
	}
	if d.setAmount != nil {
		bounds.MinDestinationAmount = d.setAmount
	}
	if d.flagSet("destination-currency") {
		bounds.DestinationCurrency = d.currency
	}
	if d.setTolerance != nil {
		bounds.QuoteTolerance = *d.setTolerance
	}
	return payments.NewBounds(bounds)
}
