package host

import (
	"context"
	"fmt"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

var (
	errNotYes      = errors.New("the answer was not yes")
	errNoAnswer    = errors.New("nobody answered before the approval expires")
	errStopped     = errors.New("interrupted before the answer")
	errPaidEarlier = errors.New("an earlier run has made this payment")
)

// beforeSigning is called for each price. The service can replay the booking of a payment that an earlier run has made,
// with its approval: then there is nothing to sign, and nobody is asked.
func (p *payingCommand) beforeSigning(ctx context.Context, booked *dapi.Payout) error {
	if p.response.Replayed {
		read, err := p.account.Payouts.Get(ctx, booked.ID)
		if err == nil && stateOf(read) != "" {
			p.earlier = read
			return errPaidEarlier
		}
	}
	return p.showAndAsk(ctx, booked)
}

// showContact prints how the contact can be paid. If it cannot be read, Pay decides: an earlier run may have paid it.
func (p *payingCommand) showContact(ctx context.Context) {
	capabilities, err := p.account.Contacts.Capabilities(ctx, p.request.ContactID)
	if err != nil {
		p.app.Say("Contact %s: cannot be read: %v", p.flags.to, err)
		return
	}
	p.app.Say("Contact %s: %s", p.flags.to, payable(capabilities))
	for _, blocker := range capabilities.Blockers {
		p.app.Say("  %s", blockerLine(blocker))
	}
}

// payable says in a few words how a contact can be paid.
func payable(c *dapi.ContactCapabilities) string {
	var ways []string
	for _, m := range c.Methods {
		way := m.Method + " " + m.Currency
		if m.CrossChain {
			way += " across chains"
		}
		ways = append(ways, way)
	}
	switch {
	case c.Payable == nil:
		return strings.Join(append([]string{"the service does not say whether it can be paid"}, ways...), ", ")
	case !*c.Payable:
		return "cannot be paid"
	}
	return "can be paid by " + strings.Join(ways, ", ")
}

func blockerLine(b dapi.Blocker) string {
	if b.Field != "" {
		return b.Code + " (" + b.Field + "): " + b.Message
	}
	return b.Code + ": " + b.Message
}

// stateOf returns the state of a payment by its payout, "" if it can still be paid. An expired payout can be booked
// again.
func stateOf(payout *dapi.Payout) moneymovement.PaymentState {
	switch payout.Status {
	case dapi.PayoutStatusFunding, dapi.PayoutStatusProcessing, dapi.PayoutStatusCompleted:
		return moneymovement.PaymentPaid
	case dapi.PayoutStatusFailed, dapi.PayoutStatusRefunded:
		return moneymovement.PaymentEnded
	}
	return ""
}

// showAndAsk shows what would be signed, and asks.
func (p *payingCommand) showAndAsk(ctx context.Context, booked *dapi.Payout) error {
	if p.approvalShown {
		p.app.Say("The price or the approval has expired. This is a new one.")
	}
	p.approvalShown = true
	if err := p.showPrice(booked); err != nil {
		return err
	}
	remark := ""
	if ends, ok := ctx.Deadline(); ok && !p.flags.yes {
		remark = "  (answer within " + time.Until(ends).Round(time.Second).String() + ")"
	}
	approval := prepared{Approval: signing.Approval{
		ID: booked.Approval.ID, Payload: booked.Approval.Payload, ExpiresAt: booked.Approval.ExpiresAt,
	}}
	if err := showApproval(p.app, approval, remark); err != nil {
		return err
	}
	if p.flags.yes {
		return nil
	}
	agreed, err := p.app.ConfirmWithin(ctx, fmt.Sprintf("Pay %s %s to %s?", p.request.Amount, p.request.Currency,
		p.request.ContactID))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errNoAnswer
	case errors.Is(err, context.Canceled):
		return errStopped
	case err != nil:
		return err
	case !agreed:
		return errNotYes
	}
	return nil
}

func (p *payingCommand) showPrice(booked *dapi.Payout) error {
	p.app.Say("Payout %s is booked at this price:", booked.ID)
	rows := priceRows(booked)
	for _, row := range rows {
		row[0] = "  " + row[0]
	}
	return p.app.SayTable(app.Table{Rows: rows})
}

// priceRows are the lines about the price of a payout.
func priceRows(payout *dapi.Payout) [][]string {
	q := payout.Quote
	if q == nil {
		return [][]string{{"amount", payout.Amount.String() + " " + string(payout.Currency)}}
	}
	return [][]string{
		{"leaves", q.SourceAmount.String() + " " + q.SourceCurrency},
		{"fee, included", q.Fee.String() + " " + q.SourceCurrency},
		{"arrives", q.DestinationAmount.String() + " " + q.DestinationCurrency},
		{"rate", q.Rate.String()},
	}
}

// payment is the result of pay.
type payment struct {
	State moneymovement.PaymentState `json:"state"`
	// PaidBefore says that an earlier run has made the payment, and that this run paid nothing.
	PaidBefore bool         `json:"paidBefore"`
	Key        string       `json:"key"`
	Payout     *dapi.Payout `json:"payout,omitzero"`
	RunAgain   string       `json:"runAgain,omitzero"`
}

func (p payment) table() app.Table {
	text := map[moneymovement.PaymentState]string{
		moneymovement.PaymentPaid:          "paid: the money has left or is leaving",
		moneymovement.PaymentNotPaid:       "not paid",
		moneymovement.PaymentNeedsDecision: "needs a decision: this run paid nothing",
		moneymovement.PaymentEnded:         "ended: the money did not arrive",
		moneymovement.PaymentInDoubt:       "in doubt: it may be paid",
	}[p.State]
	if p.PaidBefore {
		text = "paid before: an earlier run made this payment, and this run paid nothing"
	}
	rows := [][]string{{"payment", text}, {"key", p.Key}}
	if p.Payout != nil {
		rows = append(rows, payoutRows(p.Payout)...)
	}
	return app.Table{Rows: rows}
}

// printResult prints the result of Pay and returns the error of the command.
func (p *payingCommand) printResult(ctx context.Context, paid dapi.Payment, err error) error {
	if p.earlier != nil { // nothing was signed, and the payout says how the payment ended
		paid.State, paid.Payout, err = stateOf(p.earlier), p.earlier, nil
	}
	result := payment{State: paid.State, Key: p.flags.key, Payout: paid.Payout}
	var failure error
	switch paid.State {
	case moneymovement.PaymentPaid:
		result.PaidBefore = p.earlier != nil || !p.approvalShown || p.history != nil && !p.journaled
		failure = p.waitForArrival(ctx, &result)
	case moneymovement.PaymentNotPaid:
		result.RunAgain = p.commandLine(p.namedHistory())
		failure = p.notPaidError(ctx, paid.Refusal, result.RunAgain)
	case moneymovement.PaymentNeedsDecision:
		_, wrong := errors.AsType[*errors.InvalidInput](paid.Refusal)
		_, refused := errors.AsType[*errors.Refusal](paid.Refusal)
		switch {
		case wrong:
			failure = paid.Refusal
		case refused && paid.Unpaid:
			result.RunAgain = p.commandLine(p.namedHistory())
			failure = p.notPaidError(ctx, paid.Refusal, result.RunAgain)
		default:
			failure = &app.Failure{Code: app.ExitDecision, Err: explain(paid, err)}
		}
	case moneymovement.PaymentEnded:
		if err == nil { // as it was read
			err = &dapi.PayoutNotCompleted{Payout: paid.Payout}
		}
		failure = &app.Failure{Code: app.ExitOtherwise, Err: err}
	default:
		result.State = moneymovement.PaymentInDoubt
		result.RunAgain = p.commandLine(paid.History)
		failure = &app.Failure{Code: app.ExitInDoubt, Err: fmt.Errorf("%w\n\nThe payment may have been made. "+
			"Do not pay in another way. Run this again until the outcome is known:\n\n  %s", explain(paid, err),
			result.RunAgain)}
	}
	if printed := p.app.Print(result, result.table); failure == nil {
		return printed
	}
	return failure
}

// namedHistory returns the history that the flags name.
func (p *payingCommand) namedHistory() dapi.History {
	if !p.usedElsewhere() {
		return dapi.History{}
	}
	return p.terms.History
}

// explain returns why a payment was not made or is in doubt, for a person.
func explain(result dapi.Payment, err error) error {
	switch refusal := refusalCause(result.Refusal); {
	case refusal != nil && result.Unpaid:
		return refusal
	case refusal != nil:
		return fmt.Errorf("this run paid nothing: %w; an earlier run with this key may have paid", refusal)
	}
	inDoubt, ok := errors.AsType[*errors.InDoubt](err)
	if !ok {
		return err
	}
	shortened := *inDoubt
	shortened.Resolve = "run the same command again"
	return &shortened
}

// refusalCause returns what a refusal is about: what this command has declined itself, or how a call ended that has
// signed nothing.
func refusalCause(refusal error) error {
	if declined, ok := errors.AsType[*dapi.PaymentDeclined](refusal); ok {
		return declined.Err
	}
	if inDoubt, ok := errors.AsType[*errors.InDoubt](refusal); ok {
		return fmt.Errorf("%s has no response: %w", inDoubt.Operation, inDoubt.Cause)
	}
	return refusal
}

// notPaidError returns the error of a payment that no run has made.
func (p *payingCommand) notPaidError(ctx context.Context, refusal error, commandLine string) error {
	err := refusalCause(refusal)
	code := app.ExitCode(err)
	declined, asked := errors.AsType[*dapi.PaymentDeclined](refusal)
	_, lost := errors.AsType[*errors.InDoubt](refusal)
	switch {
	case ctx.Err() != nil:
		code = app.ExitInterrupted
	case asked:
		code = app.ExitDecision
	case lost && code == app.ExitFailure:
		code = app.ExitUnreachable
	}
	if asked {
		err = fmt.Errorf("%w; payout %s stays booked until its approval expires", err, declined.Resource)
	}
	return &app.Failure{Code: code,
		Err: fmt.Errorf("not paid: %w\n\nWhen that is mended, run:\n\n  %s", err, commandLine)}
}

// waitForArrival waits for the money, if that was asked for. Whatever happens, the payment is made.
func (p *payingCommand) waitForArrival(ctx context.Context, result *payment) error {
	if !p.flags.wait {
		return nil
	}
	if result.Payout.ID == "" {
		result.RunAgain = p.commandLine(p.namedHistory())
		return &app.Failure{Code: app.ExitInDoubt, Err: fmt.Errorf(
			"the payment is made, but the service does not name its payout yet: to wait for it, run\n\n  %s",
			result.RunAgain)}
	}
	payout, err := waitFor(ctx, p.account, result.Payout.ID, p.flags.timeout, p.flags.shortest)
	if payout != nil {
		result.Payout = payout
	}
	if err == nil {
		return nil
	}
	if _, ended := errors.AsType[*dapi.PayoutNotCompleted](err); ended {
		result.State, result.PaidBefore = moneymovement.PaymentEnded, false
		return &app.Failure{Code: app.ExitOtherwise, Err: err}
	}
	code := app.ExitInDoubt
	if ctx.Err() != nil {
		code = app.ExitInterrupted
	}
	result.RunAgain = p.commandLine(dapi.History{PayoutID: result.Payout.ID})
	return &app.Failure{Code: code, Err: fmt.Errorf("the payment is made, but it is not known whether the money has "+
		"arrived: %w\n\nTo wait on, run this. It pays nothing again:\n\n  %s", err, result.RunAgain)}
}
