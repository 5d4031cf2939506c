package dapi_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// What the host was sent and what it answers, field by field.
// Rule: resource.payout, resource.payin, resource.decimals, resource.dates, resource.id-prefixes
// Rule: contact.linked-account
func TestResourcesCarryTheirFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		client := w.readyClient()

		quoted, err := client.Payins.Create(t.Context(), dapi.PayinCreate{
			Amount: amount("10.000001"), Currency: "USDC", OriginChainID: 1, MaxAmount: amount("12"),
		})
		require.NoError(t, err)
		assert.EqualValues(t, 1, quoted.OriginChainID)
		assert.Equal(t, "10.000001", quoted.Amount.String())
		assert.Equal(t, "12", quoted.MaxAmount.String())
		assert.Equal(t, "9.700001", quoted.Quote.DestinationAmount.String())

		linked, err := client.Contacts.Create(t.Context(), dapi.ContactCreate{Email: w.Developer().Email})
		require.NoError(t, err)
		assert.Regexp(t, "^ct_", linked.ID)
		assert.Regexp(t, "^[0-9a-f-]{36}$", linked.UserID)
		assert.Equal(t, linked.UserID, linked.User.ID)

		terms := dapi.PayoutCreate{
			ContactID: linked.ID, Amount: amount("1.000001"), Currency: dapi.USDC, PaymentReference: "Invoice 42",
			Purpose:     "goods",
			DocumentIDs: []string{"doc_1"}, FromChainID: 8453, ToChainID: 8453,
		}
		booked, err := client.Payouts.Book(t.Context(), terms)
		require.NoError(t, err)
		assert.Regexp(t, "^po_", booked.ID)
		carried := dapi.PayoutCreate{
			ContactID: booked.ContactID, Amount: booked.Amount, Currency: booked.Currency,
			PaymentReference: booked.PaymentReference,
			Purpose:          booked.Purpose, DocumentIDs: booked.DocumentIDs,
			FromChainID: booked.FromChainID, ToChainID: booked.ToChainID,
		}
		assert.Equal(t, terms, carried)
		assert.Equal(t, time.UTC, booked.CreatedAt.Location())
	})
}
