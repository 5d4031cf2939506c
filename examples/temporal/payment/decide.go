package payment

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// listen serves the query and the update.
func (p *payment) listen(ctx workflow.Context) error {
	err := workflow.SetQueryHandler(ctx, StateQuery, func() (State, error) { return p.state, nil })
	if err != nil {
		return err
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, DecideUpdate, p.decide,
		workflow.UpdateHandlerOptions{Validator: p.checkDecision})
}

// checkDecision refuses a decision that the payment cannot carry out now. A refused update is not in the history.
func (p *payment) checkDecision(_ workflow.Context, d Decision) error {
	waits := p.state.Status == Waiting || p.state.Status == InDoubt || p.state.Status == NeedsDecision
	switch {
	case !waits:
		return fmt.Errorf("the payment is %s: decide when it waits, is in doubt or needs a decision", p.state.Status)
	case p.decided != nil:
		return fmt.Errorf("somebody has just decided to %s", p.decided.Action)
	case d.Bounds != nil && d.Action != Retry && d.Action != NewKey:
		return fmt.Errorf("%s takes no bounds", d.Action)
	}
	switch d.Action {
	case Retry, HandOver:
		return nil
	case Cancel:
		if !p.state.History.Unpaid {
			return fmt.Errorf("the payment may have been made, so it cannot be cancelled: retry it, or hand it over")
		}
		return nil
	case NewKey:
		if problem := p.state.Problem; problem == nil || !problem.NotInLedger {
			return fmt.Errorf("a new key is only for a payment whose key is too old and that the ledger does not have")
		}
		return nil
	}
	return fmt.Errorf("the action %q is unknown: use %s, %s, %s or %s", d.Action, Retry, Cancel, NewKey, HandOver)
}

// decide stores a decision. The workflow carries it out when it goes on.
func (p *payment) decide(_ workflow.Context, d Decision) (State, error) {
	p.decided = &d
	if d.Bounds != nil {
		p.state.Bounds = *d.Bounds
	}
	return p.state, nil
}

// endsAfter waits after a call that did not settle the payment: for a person, or for a time. It returns true if the
// payment ends here.
func (p *payment) endsAfter(ctx workflow.Context, problem Problem) bool {
	goOn := func() bool { return p.decided != nil || p.asked.Err() != nil && p.state.History.Unpaid }
	switch problem.Kind {
	case NotPaid, Unknown:
		p.state.Status = Waiting
		if problem.Kind == Unknown {
			p.state.Status = InDoubt
		}
		_, _ = workflow.AwaitWithTimeout(ctx, p.nextPause(problem.RetryAfter), goOn)
	default:
		p.state.Status = NeedsDecision
		_ = workflow.Await(ctx, goOn)
	}
	if p.decided == nil {
		return false
	}
	p.pause = 0
	switch p.decided.Action {
	case Cancel:
		p.state.Status = Cancelled
		return true
	case HandOver:
		p.state.Status = HandedOver
		return true
	case NewKey:
		p.useNewKey()
	}
	return false
}

// useNewKey takes the next key. If another run of this workflow may have used keys, it may have used this one as well.
// A run that used it more than 7 days ago is then found by its payment in the ledger.
func (p *payment) useNewKey() {
	p.try++
	p.search = !p.earlier.IsZero()
	p.state.Key, p.state.Status = p.input.key(p.try), Paying
	p.state.History = dapi.History{FirstUsed: p.earlier, Unpaid: true}
	p.earlier = time.Time{}
}
