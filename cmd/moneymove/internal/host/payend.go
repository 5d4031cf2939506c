package host

import (
	"context"
	"fmt"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
)

// payment is the result of pay.
type payment struct {
	State dapi.PaymentState `json:"state"`
	// PaidBefore says that an earlier run has made the payment, and that this run paid nothing.
	PaidBefore bool         `json:"paidBefore"`
	Key        string       `json:"key"`
	Payout     *dapi.Payout `json:"payout,omitzero"`
	RunAgain   string       `json:"runAgain,omitzero"`
}

func (p payment) table() app.Table {
	said := map[dapi.PaymentState]string{
		dapi.PaymentPaid: "paid: the money has left or is leaving", dapi.PaymentNotPaid: "not paid",
		dapi.PaymentEnded: "ended: the money did not arrive", dapi.PaymentUnknown: "unknown: it may be paid",
		dapi.PaymentNeedsDecision: "needs a decision: this run paid nothing",
	}[p.State]
	if p.PaidBefore {
		said = "paid before: an earlier run made this payment, and this run paid nothing"
	}
	rows := [][]string{{"payment", said}, {"key", p.Key}}
	if p.Payout != nil {
		rows = append(rows, payoutRows(p.Payout)...)
	}
	return app.Table{Rows: rows}
}

// conclude prints the result of Pay and returns the error of the command.
func (p *payingCommand) conclude(ctx context.Context, payout *dapi.Payout, err error) error {
	if p.settled != nil { // nothing was signed, and this is known of the payment
		payout, err = p.settled, nil
	}
	result := payment{State: dapi.PaymentStateOf(payout, err), Key: p.flags.key, Payout: payout}
	if p.unpaid(result.State, err) {
		result.State = dapi.PaymentNotPaid
	}
	var failure error
	switch result.State {
	case dapi.PaymentPaid:
		result.PaidBefore = p.settled != nil || !p.shown
		failure = p.awaitArrival(ctx, &result)
	case dapi.PaymentNotPaid:
		result.RunAgain = p.again(payout)
		if p.signed != nil && p.nonePaid() {
			result.RunAgain = p.again(nil) // what is remembered names the payout
			p.forget(payout)
		}
		failure = p.notPaid(ctx, err, result.RunAgain)
	case dapi.PaymentNeedsDecision:
		failure = err
		if _, wrong := errors.AsType[*errors.InvalidInput](err); !wrong {
			failure = &app.Failure{Code: app.ExitDecision, Err: inWords(err)}
		}
	case dapi.PaymentEnded:
		failure = &app.Failure{Code: app.ExitOtherwise, Err: notArrived(payout, err)}
	default:
		result.RunAgain = p.again(payout)
		failure = &app.Failure{Code: app.ExitUnknown, Err: fmt.Errorf("%w\n\nThe payment may have been made. "+
			"Do not pay in another way. Run this again until the outcome is known:\n\n  %s", orLost(inWords(err)),
			result.RunAgain)}
	}
	if printed := p.app.Print(result, result.table); failure == nil {
		return printed
	}
	return failure
}

// unpaid reports that nothing was paid: this run paid nothing, and no earlier run can have paid, as this machine
// remembers. Pay has also looked for the payment in the ledger, if the service refused the booking.
func (p *payingCommand) unpaid(state dapi.PaymentState, err error) bool {
	earlier := callfacts.EarlierOf(err)
	none := earlier == callfacts.NonePaid || earlier == callfacts.MayExist && p.nonePaid()
	if state == dapi.PaymentNeedsDecision {
		_, refused := errors.AsType[*errors.Refusal](err) // of the input, by the service
		return refused && none
	}
	return state == dapi.PaymentUnknown && none
}

// forget remembers that this run did not pay.
func (p *payingCommand) forget(payout *dapi.Payout) {
	if payout == nil {
		return
	}
	if err := p.signed.unpaid(p.flags.key, payout.ID); err != nil {
		p.app.Say("moneymove: warning: a later run cannot know that this one did not pay: %v", err)
	}
}

// inWords returns the error of a payment without what is said to programs: the name of an option, or of a function.
func inWords(err error) error {
	if callfacts.EarlierOf(err) == callfacts.MayExist {
		callfacts.SetEarlier(err, callfacts.MayPay)
	}
	unknown, ok := errors.AsType[*errors.OutcomeUnknown](err)
	if !ok {
		return err
	}
	said := *unknown
	said.Resolve = "run the same command again"
	if declined, ok := errors.AsType[*dapi.PaymentDeclined](unknown.Cause); ok {
		said.Cause = declined.Err
	}
	return &said
}

// notPaid returns the error of a payment that no run has made.
func (p *payingCommand) notPaid(ctx context.Context, err error, again string) error {
	if unknown, ok := errors.AsType[*errors.OutcomeUnknown](err); ok {
		err = unknown.Cause // which paid nothing
	}
	callfacts.SetEarlier(err, callfacts.NonePaid)
	declined, asked := errors.AsType[*dapi.PaymentDeclined](err)
	code := app.ExitCode(err)
	switch {
	case ctx.Err() != nil:
		code = app.ExitInterrupted
	case asked:
		code = app.ExitDecision
	}
	if asked {
		err = fmt.Errorf("%w; payout %s stays booked until its approval expires", declined.Err, declined.Resource)
	}
	return &app.Failure{Code: code, Err: fmt.Errorf("not paid: %w\n\nWhen that is mended, run:\n\n  %s", err, again)}
}

// awaitArrival waits for the money, if that was asked for. Whatever happens, the payment is made.
func (p *payingCommand) awaitArrival(ctx context.Context, result *payment) error {
	if !p.flags.wait {
		return nil
	}
	if result.Payout == nil {
		result.RunAgain = p.again(nil)
		return &app.Failure{Code: app.ExitUnknown, Err: fmt.Errorf(
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
		result.State, result.PaidBefore = dapi.PaymentEnded, false
		return &app.Failure{Code: app.ExitOtherwise, Err: err}
	}
	code := app.ExitUnknown
	if ctx.Err() != nil {
		code = app.ExitInterrupted
	}
	result.RunAgain = p.again(result.Payout)
	return &app.Failure{Code: code, Err: fmt.Errorf("the payment is made, but it is not known whether the money has "+
		"arrived: %w\n\nTo wait on, run this. It pays nothing again:\n\n  %s", err, result.RunAgain)}
}

// notArrived returns the error of a payout that ended without paying.
func notArrived(payout *dapi.Payout, err error) error {
	if err != nil {
		return err
	}
	return &dapi.PayoutNotCompleted{Payout: payout}
}

// orLost returns an error for a payment whose state is unknown without one.
func orLost(err error) error {
	if err != nil {
		return err
	}
	return errors.New("the service's response does not show whether the payment was made")
}
