package payment

import (
	"math"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// The pauses of the workflow. They double, from the first to the longest.
const (
	firstPause   = 10 * time.Second
	longestPause = time.Hour
)

// Workflow makes one payment and follows it until the money arrives or comes back. It returns an error only for an
// input that it cannot begin with: then nothing was sent.
//
// A request to cancel the workflow does not interrupt a call. It ends the payment as soon as it is certain that nothing
// was paid. A payment that was paid ends as paid.
func Workflow(ctx workflow.Context, in Input) (State, error) {
	info := workflow.GetInfo(ctx)
	if in.ID == "" {
		return State{}, temporal.NewNonRetryableApplicationError("the input needs an ID: the key derives from it",
			string(InvalidInput), nil)
	}
	if info.Attempt > 1 || info.ContinuedExecutionRunID != "" {
		return State{}, temporal.NewNonRetryableApplicationError("start the workflow without a retry policy and "+
			"without a schedule: a new run does not know what the run before it paid", string(InvalidInput), nil)
	}
	p := &payment{input: in, asked: ctx, try: in.Try}
	p.earlier = earlierUse(in, info)
	p.state = State{Status: Paying, Key: in.key(in.Try), Bounds: in.Bounds,
		History: dapi.History{FirstUsed: p.earlier, Unpaid: p.earlier.IsZero()}}
	if err := p.listen(ctx); err != nil {
		return State{}, err
	}
	detached, _ := workflow.NewDisconnectedContext(ctx) // a request to cancel must not stop a call in the middle
	p.run(detached)
	return p.state, nil
}

// payment is the workflow of one payment.
type payment struct {
	input   Input
	asked   workflow.Context // ends when somebody asks to cancel the workflow
	state   State
	try     int       // of the key
	earlier time.Time // when another run can have used the key first, zero if none can
	search  bool      // look for the payment before the next call
	decided *Decision // what a person decided since the last call
	pause   time.Duration
}

// earlierUse returns since when another run may have used the key, zero if none has. Somebody who resets a workflow
// makes Temporal forget the calls after the reset point, but not the service.
func earlierUse(in Input, info *workflow.Info) time.Time {
	if in.FirstUsed.IsZero() && info.FirstRunID != "" && info.FirstRunID != info.WorkflowExecution.RunID {
		return info.WorkflowStartTime // of the first run: a reset keeps it
	}
	return in.FirstUsed
}

// run makes calls until the payment is settled.
func (p *payment) run(ctx workflow.Context) {
	for {
		if p.asked.Err() != nil && p.state.History.Unpaid {
			p.state.Status = Cancelled
			return
		}
		receipt, problem := p.call(ctx)
		if problem == nil {
			p.settle(ctx, receipt)
			return
		}
		if p.endsAfter(ctx, *problem) {
			return
		}
	}
}

// call pays, or looks for the payment if the key is too old to be sent again.
func (p *payment) call(ctx workflow.Context) (Receipt, *Problem) {
	if p.search {
		p.search = false
		if receipt, problem := p.find(ctx, Problem{Kind: KeyTooOld}); problem == nil || !problem.NotInLedger {
			p.search = problem != nil // it could not be read
			return receipt, problem
		}
	}
	receipt, problem := p.pay(ctx)
	if problem != nil && problem.Kind == KeyTooOld {
		return p.find(ctx, *problem)
	}
	return receipt, problem
}

// pay calls Pay once. What it records before the call is what is true if the worker dies during the call.
func (p *payment) pay(ctx workflow.Context) (Receipt, *Problem) {
	history := &p.state.History
	if history.Unpaid {
		history.FirstUsed = workflow.Now(ctx)
	}
	call := PayCall{Account: p.input.Account, Terms: p.input.Terms, Bounds: p.state.Bounds, Key: p.state.Key,
		History: *history}
	p.state.Status, history.Unpaid, p.decided = Paying, false, nil

	var receipt Receipt
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: payTimeout,
		HeartbeatTimeout:    heartbeatTimeout,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: firstPause, BackoffCoefficient: 2,
			MaximumInterval: time.Minute, MaximumAttempts: 4},
	}), (*Activities).Pay, call).Get(ctx, &receipt)
	if err == nil {
		return receipt, nil
	}
	problem := problemFrom(err, p.state.History)
	p.state.History, p.state.Problem = problem.History, &problem
	return Receipt{}, &problem
}

// find looks for a payment whose key is too old to be sent again.
func (p *payment) find(ctx workflow.Context, problem Problem) (Receipt, *Problem) {
	var found Receipt
	err := workflow.ExecuteActivity(reading(ctx), (*Activities).Find, FindCall{Account: p.input.Account,
		Terms: p.input.Terms, Key: p.state.Key, PayoutID: p.state.History.PayoutID,
		Since: p.state.History.FirstUsed}).Get(ctx, &found)
	switch {
	case err != nil:
		problem.Kind, problem.Message = Unknown, err.Error()
	case found.State == "":
		problem.NotInLedger = true
	default:
		return found, nil
	}
	p.state.Problem = &problem
	return Receipt{}, &problem
}

// settle follows a payment that was paid, until the money arrives or comes back.
func (p *payment) settle(ctx workflow.Context, receipt Receipt) {
	p.state.History.PayoutID, p.state.History.Unpaid, p.state.Problem = receipt.PayoutID, false, nil
	for receipt.State == moneymovement.PaymentPaid && receipt.Status != dapi.PayoutStatusCompleted {
		p.state.Status = Paid
		var now Receipt
		err := workflow.ExecuteActivity(reading(ctx), (*Activities).Follow, p.input.Account, receipt.PayoutID).
			Get(ctx, &now)
		if err != nil { // a payout that is paid stays paid: read it again
			p.sleep(ctx)
			continue
		}
		receipt = now
	}
	p.state.Status = Completed
	if receipt.State == moneymovement.PaymentEnded {
		p.state.Status = CameBack
	}
}

// reading are the options of activities that only read. They repeat until they succeed. Each pause is half as long
// again as the one before, so that an end is noticed late by at most about a third of the time that it took, and by an
// hour.
func reading(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: readTimeout,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1.5,
			MaximumInterval: longestPause, MaximumAttempts: math.MaxInt32},
	})
}

// nextPause returns a pause that is twice as long as the one before, and at least as long as the service asked for.
func (p *payment) nextPause(least time.Duration) time.Duration {
	p.pause = min(max(2*p.pause, firstPause), longestPause)
	return max(p.pause, least)
}

func (p *payment) sleep(ctx workflow.Context) { _ = workflow.Sleep(ctx, p.nextPause(0)) }
