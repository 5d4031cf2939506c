package payments_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// The table of docs/operations.md is the one place that has the words of the SDK, of this package and of the service
// side by side.
func TestTheTableOfStatesHasEachWord(t *testing.T) {
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "## The words for the state of a payment\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	var columns [3]string
	for line := range strings.Lines(table) {
		for i, cell := range strings.SplitN(strings.Trim(line, "| \n"), " | ", 4) {
			if i < len(columns) && strings.HasPrefix(line, "| ") {
				columns[i] += cell + "\n"
			}
		}
	}
	for _, state := range []moneymovement.PaymentState{moneymovement.PaymentPaid, moneymovement.PaymentNotPaid,
		moneymovement.PaymentEnded, moneymovement.PaymentInDoubt, moneymovement.PaymentNeedsDecision} {
		assert.Contains(t, columns[0], fmt.Sprintf("`%s`", state))
	}
	for _, state := range moneymovement.StoredPaymentStates() {
		assert.Equal(t, 1, strings.Count(columns[1], fmt.Sprintf("`%s`", state)), state)
	}
	for _, status := range []dapi.PayoutStatus{dapi.PayoutStatusAwaitingApproval, dapi.PayoutStatusFunding,
		dapi.PayoutStatusProcessing, dapi.PayoutStatusCompleted, dapi.PayoutStatusFailed, dapi.PayoutStatusRefunded,
		dapi.PayoutStatusExpired} {
		assert.Contains(t, columns[2], fmt.Sprintf("`%s`", status))
	}
}
