package payment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Only the first attempt of an activity says that nobody used the key before. Each says since when it may be in use.
func TestOnlyTheFirstAttemptIsTheFirstUse(t *testing.T) {
	t.Parallel()
	now := time.Now()
	hourAgo := now.Add(-time.Hour)
	for name, c := range map[string]struct {
		known  dapi.History
		first  bool
		booked dapi.PayoutID
		want   dapi.History
	}{
		"the first attempt": {dapi.History{FirstUsed: hourAgo, Unpaid: true}, true, "",
			dapi.History{FirstUsed: hourAgo, Unpaid: true}},
		"an attempt after a lost one": {dapi.History{FirstUsed: hourAgo, Unpaid: true}, false, "po_1",
			dapi.History{FirstUsed: hourAgo, PayoutID: "po_1"}},
		"a call that may have paid": {dapi.History{FirstUsed: hourAgo, PayoutID: "po_1"}, true, "",
			dapi.History{FirstUsed: hourAgo, PayoutID: "po_1"}},
		"a server whose clock is ahead": {dapi.History{FirstUsed: now.Add(2 * time.Hour)}, true, "",
			dapi.History{FirstUsed: now}},
	} {
		terms := PayCall{History: c.known}.payTerms(c.first, c.booked, now)
		assert.Equal(t, c.want, terms.History, name)
		assert.Equal(t, c.want.Unpaid, terms.Journal != nil, "%s: a journal makes the history a proof", name)
	}
}

// A reset makes Temporal forget calls, and not the service.
func TestAResetIsNotAFirstUse(t *testing.T) {
	t.Parallel()
	began, stored := time.Now().Add(-time.Hour), time.Now().Add(-24*time.Hour)
	run := func(id, first string) *workflow.Info {
		return &workflow.Info{FirstRunID: first, WorkflowStartTime: began,
			WorkflowExecution: workflow.Execution{RunID: id}}
	}
	for name, c := range map[string]struct {
		in    Input
		info  *workflow.Info
		since time.Time
	}{
		"the first run":                     {Input{}, run("a", "a"), time.Time{}},
		"a reset":                           {Input{}, run("b", "a"), began},
		"an earlier workflow":               {Input{FirstUsed: stored}, run("a", "a"), stored},
		"a reset after an earlier workflow": {Input{FirstUsed: stored}, run("b", "a"), stored},
	} {
		assert.Equal(t, c.since, earlierUse(c.in, c.info), name)
	}
}

// What the workflow cannot read says nothing: the worker may have died after it paid.
func TestAnErrorWithoutAProblemIsUnknown(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"a panic":            errors.New("panic"),
		"another error":      temporal.NewNonRetryableApplicationError("not registered", "NotRegistered", nil),
		"other details":      temporal.NewNonRetryableApplicationError("odd", "Odd", nil, Problem{}),
		"a cancelled call":   temporal.NewCanceledError(),
		"a heartbeat missed": temporal.NewHeartbeatTimeoutError(dapi.PayoutID("po_1")),
	} {
		problem := problemFrom(err, dapi.History{FirstUsed: time.Unix(1, 0)})
		assert.Equal(t, Unknown, problem.Kind, name)
		problem.History.PayoutID = ""
		assert.Equal(t, dapi.History{FirstUsed: time.Unix(1, 0)}, problem.History, name)
	}
	missed := problemFrom(temporal.NewHeartbeatTimeoutError(dapi.PayoutID("po_1")), dapi.History{})
	assert.Equal(t, dapi.PayoutID("po_1"), missed.History.PayoutID)
}

func TestAWorkerTakesItsShareOfTheWindows(t *testing.T) {
	t.Parallel()
	for workers, calls := range map[int]int{0: 59, 1: 59, 2: 29, 100: 1} {
		assert.Equal(t, calls, WorkerOptions(workers).MaxConcurrentActivityExecutionSize)
	}
	assert.GreaterOrEqual(t, WorkerOptions(1).WorkerStopTimeout, payTimeout)
}
