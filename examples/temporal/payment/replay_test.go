package payment_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	"github.com/moneymovement/moneymovement-go/examples/temporal/payment"
)

// The workflow replays histories that a Temporal server recorded: of a payment that completed, of one that a person
// decided about, and of the first one after a reset. A change of the workflow that breaks running payments fails here.
func TestRecordedHistoriesReplay(t *testing.T) {
	t.Parallel()
	histories, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.Len(t, histories, 3)
	for _, history := range histories {
		t.Run(filepath.Base(history), func(t *testing.T) {
			t.Parallel()
			replayer := worker.NewWorkflowReplayer()
			replayer.RegisterWorkflow(payment.Workflow)
			assert.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(quiet(), history))
		})
	}
}
