package host

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/target"
	"github.com/moneymovement/moneymovement-go/dapi"
)

const payHelp = `Makes a payment: it books a payout, shows the contact, the price and every field of the approval, asks, and then signs
and confirms.

-key names the payment. The same key never pays twice, however often you run the command and however it ended, within
7 days. So take what identifies the payment in your books, and give the same key and the same terms when you run it
again.

Exit codes: 0 paid, by this run or by an earlier one; 2 nothing was sent; 3 refused, and not paid; 4 the outcome is
unknown: the payment may have been made, so run the printed command; 5 a person must decide, such as after an answer
other than yes; 6 the host cannot be reached, and not paid; 7 the payout failed or came back.

The command remembers on this machine, before it signs, that it signs with a key. So after a refusal it knows whether an
earlier run here can have paid: if none can, and the ledger does not show the payment, it is not paid. If you use the
same key elsewhere, give -booked-before or -first-used: the outcome after a refusal is then unknown.`

const payExamples = `  moneymove pay 25 USDC -to ct_1 -key invoice-42 -as cl_123
  moneymove pay 25 USDC -to ct_1 -key invoice-42 -max-fee 0.50 -min-destination '22 EUR' -wait -yes`

// payFlags are the flags of pay.
type payFlags struct {
	to, key            string
	maxFee, least      string
	purpose, reference string
	documents          []string
	fromChain, toChain int64
	first              bool
	bookedBefore       string
	firstUsed          string
	yes, wait          bool
	timeout            time.Duration
	shortest           time.Duration
}

// payingCommand is one run of pay.
type payingCommand struct {
	app     *app.App
	where   *target.Target
	command *cobra.Command
	args    []string
	flags   payFlags
	account *dapi.Account

	signed      *signedKey // what earlier runs on this machine signed, nil if that cannot be kept
	mayHavePaid bool       // one of them may have paid

	asked    dapi.PayoutCreate
	options  []dapi.PayOption
	response moneymovement.Response // the last one of Pay
	shown    bool                   // an approval was shown
	settled  *dapi.Payout           // the payout that an earlier run has paid, or that has ended, as it was read
}

func payCommand(a *app.App) *cobra.Command {
	where := target.New(a)
	var flags payFlags
	command := &cobra.Command{
		Use: "pay AMOUNT CURRENCY", Short: "Make a payment to a contact, once",
		Long: payHelp, Example: payExamples, Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			p := payingCommand{app: a, where: where, command: c, args: args, flags: flags}
			return p.run(c.Context())
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	where.PlatformFlags(command.Flags())
	set := command.Flags()
	set.StringVar(&flags.to, "to", "", "pay this `contact`, ct_...")
	_ = command.RegisterFlagCompletionFunc("to", contactIDs(where))
	set.StringVar(&flags.key, "key", "", "idempotency `key` that names the payment")
	set.StringVar(&flags.maxFee, "max-fee", "", "refuse a price with a higher `fee`, in CURRENCY")
	set.StringVar(&flags.least, "min-destination", "",
		"refuse a price at which less than this `amount` arrives, with its currency, such as '22.80 EUR'")
	set.StringVar(&flags.purpose, "purpose", "", "`purpose` of the payment")
	set.StringVar(&flags.reference, "reference", "", "`text` that the payee sees")
	set.StringArrayVar(&flags.documents, "document", nil, "`id` of a supporting document; repeat it for more")
	set.Int64Var(&flags.fromChain, "from-chain", 0, "EVM `id` of the chain that the money leaves, such as 8453")
	set.Int64Var(&flags.toChain, "to-chain", 0, "EVM `id` of the chain that the money arrives on")
	set.BoolVar(&flags.first, "first", false,
		"no earlier run with this key can have paid: a refusal of this one run then means not paid")
	set.StringVar(&flags.bookedBefore, "booked-before", "",
		"the `payout` that an earlier run has booked: no other is paid")
	set.StringVar(&flags.firstUsed, "first-used", "",
		"the `time` at which the key was first used, in RFC 3339: a key that is too old is refused")
	set.BoolVar(&flags.yes, "yes", false, "pay without asking")
	set.BoolVar(&flags.wait, "wait", false, "wait until the money has arrived")
	waitFlags(command, &flags.timeout, &flags.shortest)
	return command
}

// payTimeout is enough for a question and for a few fresh prices. A run that takes longer can be repeated.
const payTimeout = 5 * time.Minute

func (p *payingCommand) run(ctx context.Context) error {
	if err := p.read(); err != nil {
		return err
	}
	if _, err := p.app.JSON(); err != nil {
		return err
	}
	var err error
	if p.account, err = p.where.Account(); err != nil {
		return err
	}
	if !p.flags.yes && !p.app.CanAsk() {
		return app.Usagef("there is no terminal to ask on: give -yes if you are sure")
	}
	if err := p.remember(); err != nil {
		return err
	}
	p.showContact(ctx)
	paying, cancel := context.WithTimeout(ctx, payTimeout)
	defer cancel()
	payout, err := p.account.Payouts.Pay(paying, p.asked, moneymovement.Key(p.flags.key), p.options...)
	return p.conclude(ctx, payout, err)
}

// remember reads what earlier runs on this machine have signed with the key.
func (p *payingCommand) remember() error {
	account, err := p.where.AccountName()
	if err != nil {
		return err
	}
	signed, err := openSignedKey(append(account, p.flags.key)...)
	if err != nil {
		p.app.Say("moneymove: warning: after a refusal, a later run cannot know whether this one signed: %v", err)
		return nil
	}
	p.signed, p.mayHavePaid = signed, signed.before.MayHavePaid
	if p.flags.bookedBefore == "" {
		p.options = append(p.options, dapi.BookedBefore(signed.before.Payout))
	}
	return nil
}

// nonePaid reports that no other run on this machine can have paid with the key, and that none elsewhere is named.
func (p *payingCommand) nonePaid() bool {
	return p.signed != nil && !p.mayHavePaid && p.flags.bookedBefore == "" && p.flags.firstUsed == ""
}

// read reads the terms and the bounds.
func (p *payingCommand) read() error {
	switch {
	case p.flags.key == "":
		return app.Usagef("-key is missing. It names the payment: if a response is lost or you run the command again, "+
			"the same key does not pay twice. Take what identifies the payment in your books, such as -key "+
			"invoice-42, or else a new one, and keep it: -key %s", newPaymentKey())
	case p.flags.to == "":
		return app.Usagef("-to is missing: give the id of the contact, ct_...")
	}
	if err := checkWait(p.flags.timeout, p.flags.shortest); err != nil {
		return err
	}
	amount, err := app.Amount("AMOUNT", p.args[0])
	if err != nil {
		return err
	}
	p.asked = dapi.PayoutCreate{
		ContactID: dapi.ContactID(p.flags.to), Amount: amount, Currency: dapi.Asset(strings.ToUpper(p.args[1])),
		Purpose: p.flags.purpose, PaymentReference: p.flags.reference, DocumentIDs: p.flags.documents,
		FromChainID: dapi.ChainID(p.flags.fromChain), ToChainID: dapi.ChainID(p.flags.toChain),
	}
	p.options = []dapi.PayOption{dapi.BeforeSigning(p.beforeSigning), dapi.CaptureLastResponse(&p.response)}
	return p.readBounds()
}

func (p *payingCommand) readBounds() error {
	if p.flags.maxFee != "" {
		fee, err := app.Amount("-max-fee", p.flags.maxFee)
		if err != nil {
			return err
		}
		p.options = append(p.options, dapi.MaxFee(fee))
	}
	if p.flags.least != "" {
		parts := strings.Fields(p.flags.least)
		if len(parts) != 2 {
			return app.Usagef("-min-destination is %q: give the amount and its currency, such as '22.80 EUR'",
				p.flags.least)
		}
		least, err := app.Amount("-min-destination", parts[0])
		if err != nil {
			return err
		}
		p.options = append(p.options, dapi.MinDestinationAmount(least, strings.ToUpper(parts[1])))
	}
	if p.flags.bookedBefore != "" {
		p.options = append(p.options, dapi.BookedBefore(dapi.PayoutID(p.flags.bookedBefore)))
	}
	if p.flags.first {
		p.options = append(p.options, dapi.FirstUse())
	}
	if p.flags.firstUsed != "" {
		at, err := time.Parse(time.RFC3339, p.flags.firstUsed)
		if err != nil {
			return app.Usagef("-first-used is %q: give a time such as 2026-01-31T12:00:00Z", p.flags.firstUsed)
		}
		p.options = append(p.options, dapi.FirstUsedAt(at))
	}
	return nil
}

// newPaymentKey returns a key that nobody has used.
func newPaymentKey() string { return "pay-" + strings.ToLower(rand.Text()[:12]) }
