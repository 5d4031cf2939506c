package payments_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// The table of docs/operations.md is the one place that has each state, who returns it, and the words of the service
// beside it.
func TestTheTableOfStatesHasEachWord(t *testing.T) {
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "## The words for the state of a payment\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	var ofPay, stored []moneymovement.PaymentState
	statuses := ""
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		require.Len(t, cells, 5, line)
		state := moneymovement.PaymentState(strings.Trim(cells[0], "`"))
		assert.True(t, state.Known(), state)
		assert.Contains(t, []string{"`Pay`", "`payments`", "`Pay`, `payments`"}, cells[1])
		if strings.Contains(cells[1], "`Pay`") {
			ofPay = append(ofPay, state)
		}
		if strings.Contains(cells[1], "`payments`") {
			stored = append(stored, state)
		}
		statuses += cells[2]
	}
	assert.ElementsMatch(t, []moneymovement.PaymentState{moneymovement.PaymentPaid, moneymovement.PaymentNotPaid,
		moneymovement.PaymentInDoubt, moneymovement.PaymentNeedsDecision, moneymovement.PaymentEnded}, ofPay)
	assert.ElementsMatch(t, moneymovement.StoredPaymentStates(), stored)
	for _, status := range []dapi.PayoutStatus{dapi.PayoutStatusAwaitingApproval, dapi.PayoutStatusFunding,
		dapi.PayoutStatusProcessing, dapi.PayoutStatusCompleted, dapi.PayoutStatusFailed, dapi.PayoutStatusRefunded,
		dapi.PayoutStatusExpired} {
		assert.Contains(t, statuses, "`"+string(status)+"`")
	}
}
