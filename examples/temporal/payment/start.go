package payment

import (
	"context"
	"strconv"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// TaskQueue is the task queue of the workflow and its activities.
const TaskQueue = "payments"

// WorkflowID returns the id of a payment's workflow. Temporal runs at most one workflow of an id at a time.
func WorkflowID(id string, try int) string { return "payment:" + id + ":" + strconv.Itoa(try) }

// Start starts the workflow of a payment. If it runs already, Start returns that run. If it has ended, Start fails, for
// as long as Temporal remembers it. It has no retry policy: a second run would not know what the first one paid.
func Start(ctx context.Context, temporal client.Client, in Input) (client.WorkflowRun, error) {
	return temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       WorkflowID(in.ID, in.Try),
		TaskQueue:                TaskQueue,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, Workflow, in)
}
