package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

var (
	errNotYes   = errors.New("the answer was not yes")
	errNoAnswer = errors.New("nobody answered before the approval expires")
	errStopped  = errors.New("interrupted before the answer")
	errSettled  = errors.New("an earlier run has made this payment")
)

// beforeSigning is called for each price. The service can replay the booking of a payment that an earlier run has made,
// with its approval: then there is nothing to sign, and nobody is asked.
func (p *payingCommand) beforeSigning(ctx context.Context, booked *dapi.Payout) error {
	if p.response.Replayed {
		read, err := p.account.Payouts.Get(ctx, booked.ID)
		if err == nil && stateOf(read) != "" {
			p.settled = read
			return errSettled
		}
	}
	return p.showAndAsk(ctx, booked)
}

// showContact prints how the contact can be paid. If it cannot be read, Pay decides: an earlier run may have paid it.
func (p *payingCommand) showContact(ctx context.Context) {
	capabilities, err := p.account.Contacts.Capabilities(ctx, p.asked.ContactID)
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

// stateOf returns the state that a payout as it was read shows, "" if it may still be paid. An expired payout can be
// booked again.
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
	if p.shown {
		p.app.Say("The price or the approval has expired. This is a new one.")
	}
	p.shown = true
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
	agreed, err := p.app.ConfirmWithin(ctx, fmt.Sprintf("Pay %s %s to %s?", p.asked.Amount, p.asked.Currency,
		p.asked.ContactID))
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
