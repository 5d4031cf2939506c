package host

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/shell"
)

const payHelp = `Makes a payment: it books a payout, shows the contact, the price and every field of the approval, asks, and then signs
and confirms.

-key names the payment. The same key never pays twice, however often you run the command and however it ended, within
7 days. So take what identifies the payment in your books, and give the same key and the same terms when you run it
again.

Exit codes: 0 paid, by this run or by an earlier one; 2 nothing was sent; 3 refused, and not paid; 4 in doubt: the
payment may have been made, so run the printed command; 5 a person must decide, such as after an answer other than yes;
6 the host cannot be reached, and not paid; 7 the payout failed or came back.

The command stores on this machine, before it signs, that it signs with a key. So after a refusal it knows whether an
earlier run here can have paid: if none can, the payment is not paid. If you use the same key elsewhere, give
-booked-before or -first-used: after a refusal the payment is then in doubt.`

const payExamples = `  moneymove pay 25 USDC -to ct_1 -key invoice-42 -as cl_123
  moneymove pay 25 USDC -to ct_1 -key invoice-42 -max-fee 0.50 -min-destination '22 EUR' -wait -yes`

// payFlags are the flags of pay.
type payFlags struct {
	to, key            string
	maxFee, least      string
	purpose, reference string
	documents          []string
	fromChain, toChain int64
	bookedBefore       string
	firstUsed          string
	yes, wait          bool
	timeout            time.Duration
	shortest           time.Duration
}

// payingCommand is one run of pay.
type payingCommand struct {
	app     *app.App
	where   *client.Target
	command *cobra.Command
	args    []string
	flags   payFlags
	account *dapi.Account

	history   *historyFile // nil if the history cannot be stored on this machine
	journaled bool         // this run has stored that it signs

	request       dapi.PayoutCreate
	terms         dapi.PayTerms
	response      moneymovement.Response // the last one of Pay
	approvalShown bool                   // an approval was shown
	earlier       *dapi.Payout           // the payout as it was read, if an earlier run has paid it or it has ended
}

func payCommand(a *app.App) *cobra.Command {
	where := client.New(a)
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
	if err := p.readTerms(); err != nil {
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
	if err := p.readHistory(); err != nil {
		return err
	}
	p.showContact(ctx)
	paying, cancel := context.WithTimeout(ctx, payTimeout)
	defer cancel()
	result, err := p.account.Payouts.Pay(paying, p.request, moneymovement.Key(p.flags.key), p.terms,
		moneymovement.CaptureResponse(&p.response))
	return p.printResult(ctx, p.storeHistory(result), err)
}

// readHistory reads the history of the key on this machine. If the flags name a run elsewhere, this history alone
// proves nothing.
func (p *payingCommand) readHistory() error {
	account, err := p.where.AccountName()
	if err != nil {
		return err
	}
	named := p.terms.History
	file, history, err := openHistory(append(account, p.flags.key)...)
	if err != nil {
		p.app.Say("moneymove: warning: after a refusal, a later run cannot know whether this one signed: %v", err)
		return nil
	}
	if p.usedElsewhere() {
		history = dapi.History{FirstUsed: named.FirstUsed, PayoutID: cmp.Or(named.PayoutID, history.PayoutID)}
	}
	p.history, p.terms.History, p.terms.Journal = file, history, p.journal
	return nil
}

// journal stores that this run signs. Without that, a later run would say that nothing was paid.
func (p *payingCommand) journal(_ context.Context, history dapi.History) error {
	if err := p.history.store(p.flags.key, history); err != nil {
		return fmt.Errorf("nothing was signed, because this cannot be stored first: %w", err)
	}
	p.journaled = true
	return nil
}

// storeHistory stores the history of the payment. If another run has used the key at the same time, this run does not
// know all earlier runs, and the payment stays in doubt.
func (p *payingCommand) storeHistory(result dapi.Payment) dapi.Payment {
	if p.history == nil {
		return result
	}
	err := p.history.unchanged()
	if p.journaled {
		err = p.history.store(p.flags.key, result.History)
	}
	if err != nil {
		p.app.Say("moneymove: warning: a later run cannot know how this one ended: %v", err)
		if result.State == moneymovement.PaymentNotPaid {
			result.State = moneymovement.PaymentInDoubt
		}
		result.Unpaid = false
	}
	return result
}

// usedElsewhere reports that the flags name a run on another machine.
func (p *payingCommand) usedElsewhere() bool {
	return p.flags.bookedBefore != "" || p.flags.firstUsed != ""
}

// readTerms reads the terms and the bounds.
func (p *payingCommand) readTerms() error {
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
	p.request = dapi.PayoutCreate{
		ContactID: dapi.ContactID(p.flags.to), Amount: amount, Currency: dapi.Asset(strings.ToUpper(p.args[1])),
		Purpose: p.flags.purpose, PaymentReference: p.flags.reference, DocumentIDs: p.flags.documents,
		FromChainID: dapi.ChainID(p.flags.fromChain), ToChainID: dapi.ChainID(p.flags.toChain),
	}
	p.terms.BeforeSigning = p.beforeSigning
	p.terms.History.PayoutID = dapi.PayoutID(p.flags.bookedBefore)
	return p.readBounds()
}

func (p *payingCommand) readBounds() error {
	if p.flags.maxFee != "" {
		fee, err := app.Amount("-max-fee", p.flags.maxFee)
		if err != nil {
			return err
		}
		p.terms.Bounds.MaxFee = &fee
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
		p.terms.Bounds.MinDestinationAmount, p.terms.Bounds.DestinationCurrency = &least, strings.ToUpper(parts[1])
	}
	if p.flags.firstUsed != "" {
		at, err := time.Parse(time.RFC3339, p.flags.firstUsed)
		if err != nil {
			return app.Usagef("-first-used is %q: give a time such as 2026-01-31T12:00:00Z", p.flags.firstUsed)
		}
		p.terms.History.FirstUsed = at
	}
	return nil
}

// newPaymentKey returns a key that nobody has used.
func newPaymentKey() string { return "pay-" + strings.ToLower(rand.Text()[:12]) }

// historyFile keeps the history of a key on this machine. It is written before each signature. If the file does not
// exist, no run on this machine has paid.
type historyFile struct {
	path    string
	content []byte // of the file, as this run knows it
	run     string // makes the content of each run different
}

// storedHistory is what the file holds.
type storedHistory struct {
	Key     string       `json:"key"`
	History dapi.History `json:"history"`
	Run     string       `json:"run"`
}

// openHistory reads the history of a key. It makes the folder at once: a run that signs must be able to write there.
func openHistory(scope ...string) (*historyFile, dapi.History, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return nil, dapi.History{}, err
	}
	folder = filepath.Join(folder, "moneymove", "keys")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, dapi.History{}, err
	}
	text, err := codec.Marshal(scope)
	if err != nil {
		return nil, dapi.History{}, err
	}
	sum := sha256.Sum256(text)
	h := &historyFile{path: filepath.Join(folder, hex.EncodeToString(sum[:16])+".json"), run: rand.Text()}
	if h.content, err = h.read(); err != nil || h.content == nil {
		return h, dapi.History{}, err
	}
	var stored storedHistory
	if codec.Unmarshal(h.content, &stored) != nil { // cut off: a run was about to sign
		stored.History = dapi.History{FirstUsed: h.writtenAt()}
	}
	stored.History.Quote = nil // each run shows the price
	return h, stored.History, nil
}

// read returns the content of the file, or nil if the file does not exist.
func (h *historyFile) read() ([]byte, error) {
	content, err := os.ReadFile(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

func (h *historyFile) writtenAt() time.Time {
	if info, err := os.Stat(h.path); err == nil {
		return info.ModTime()
	}
	return time.Now()
}

var errOtherRun = errors.New("another run is paying with this key")

// unchanged fails if another run has stored a history since this one began.
func (h *historyFile) unchanged() error {
	content, err := h.read()
	if err == nil && !bytes.Equal(content, h.content) {
		return errOtherRun
	}
	return err
}

// store stores the history, unless another run has done so since this one began.
func (h *historyFile) store(key string, history dapi.History) error {
	if err := h.unchanged(); err != nil {
		return err
	}
	text, err := codec.Marshal(storedHistory{key, history, h.run})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	h.content = text
	return errors.Join(err, file.Sync(), file.Close())
}

// commandLine returns the command line that makes the same payment. It has what only the environment says: with another
// account, the same key is another payment. It also has the history, which another machine does not have.
func (p *payingCommand) commandLine(history dapi.History) string {
	words := append(strings.Fields(p.command.CommandPath()), p.args...)
	p.command.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "booked-before" && flag.Name != "first-used" {
			words = append(words, flagWords(flag)...)
		}
	})
	words = append(words, settingWords(p.where)...)
	if history.PayoutID != "" {
		words = append(words, "-booked-before", string(history.PayoutID))
	}
	if !history.FirstUsed.IsZero() {
		words = append(words, "-first-used", history.FirstUsed.UTC().Format(time.RFC3339))
	}
	return shell.Line(words...)
}

// flagWords returns a flag as it is typed.
func flagWords(flag *pflag.Flag) (words []string) {
	name := "-" + flag.Name
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		for _, value := range list.GetSlice() {
			words = append(words, name, value)
		}
		return words
	}
	if flag.NoOptDefVal != "" { // a switch takes its value after an equals sign
		if flag.Value.String() != flag.NoOptDefVal {
			name += "=" + flag.Value.String()
		}
		return []string{name}
	}
	return []string{name, flag.Value.String()}
}

// settingWords returns the flags for what only the environment says.
func settingWords(where *client.Target) (words []string) {
	for _, setting := range where.FromEnvironment() {
		words = append(words, "-"+setting.Flag, setting.Value)
	}
	return words
}
