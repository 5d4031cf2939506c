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
		call  PayCall
		first bool
		want  []dapi.PayOption
	}{
		"the first attempt": {PayCall{FirstUse: true, FirstUsed: hourAgo}, true,
			use(hourAgo, dapi.FirstUse())},
		"an attempt after a lost one":   {PayCall{FirstUse: true, FirstUsed: hourAgo}, false, use(hourAgo)},
		"a call that may have paid":     {PayCall{FirstUsed: hourAgo}, true, use(hourAgo)},
		"a server whose clock is ahead": {PayCall{FirstUsed: now.Add(2 * time.Hour)}, true, use(now)},
	} {
		assert.Equal(t, dapi.PayOptionsOf(c.want...), dapi.PayOptionsOf(c.call.history(c.first, now)...), name)
	}
}

func use(at time.Time, more ...dapi.PayOption) []dapi.PayOption {
	return append([]dapi.PayOption{dapi.FirstUsedAt(at)}, more...)
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
		in      Input
		info    *workflow.Info
		earlier bool
		since   time.Time
	}{
		"the first run":                     {Input{}, run("a", "a"), false, time.Time{}},
		"a reset":                           {Input{}, run("b", "a"), true, began},
		"an earlier workflow":               {Input{FirstUsed: stored}, run("a", "a"), true, stored},
		"a reset after an earlier workflow": {Input{FirstUsed: stored}, run("b", "a"), true, stored},
	} {
		earlier, since := earlierUse(c.in, c.info)
		assert.Equal(t, c.earlier, earlier, name)
		assert.Equal(t, c.since, since, name)
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
		problem := problemFrom(err)
		assert.Equal(t, Unknown, problem.Kind, name)
		assert.True(t, problem.MayHavePaid, name)
	}
	assert.Equal(t, dapi.PayoutID("po_1"), problemFrom(temporal.NewHeartbeatTimeoutError(dapi.PayoutID("po_1"))).PayoutID)
}

func TestAWorkerTakesItsShareOfTheWindows(t *testing.T) {
	t.Parallel()
	for workers, calls := range map[int]int{0: 59, 1: 59, 2: 29, 100: 1} {
		assert.Equal(t, calls, WorkerOptions(workers).MaxConcurrentActivityExecutionSize)
	}
	assert.GreaterOrEqual(t, WorkerOptions(1).WorkerStopTimeout, payTimeout)
}
