package appapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
)

// An absent member stays, and null and an empty text clear it.
func TestTextsAreCleared(t *testing.T) {
	w := newWorld(t)
	bob := w.bob()
	for _, none := range []model.Nullable[string]{model.Set(""), model.Null[string]()} {
		contact, err := w.app.Contacts.Update(t.Context(), bob,
			appapi.ContactUpdate{Name: model.Set("Bob"), Relationship: model.Set("external")})
		require.NoError(t, err)
		assert.Equal(t, "external", contact.Relationship)
		contact, err = w.app.Contacts.Update(t.Context(), bob, appapi.ContactUpdate{Relationship: none})
		require.NoError(t, err)
		assert.Equal(t, "Bob", contact.Name)
		assert.Empty(t, contact.Relationship)

		_, err = w.app.Account.UpdateProfile(t.Context(),
			appapi.ProfileUpdate{FirstName: model.Set("Ann"), LastName: model.Set("Roe")})
		require.NoError(t, err)
		profile, err := w.app.Account.UpdateProfile(t.Context(), appapi.ProfileUpdate{LastName: none})
		require.NoError(t, err)
		assert.Equal(t, "Ann", profile.FirstName)
		assert.Empty(t, profile.LastName)

		id := w.activeContract()
		_, err = w.app.Contracts.Update(t.Context(), id, appapi.ContractUpdate{
			Label: model.Set("Design"), PriorityMethods: model.Set([]model.PriorityMethod{model.PriorityMethodSEPA}),
		})
		require.NoError(t, err)
		contract, err := w.app.Contracts.Update(t.Context(), id, appapi.ContractUpdate{
			Label: none, PriorityMethods: model.Set([]model.PriorityMethod{}),
		})
		require.NoError(t, err)
		assert.Empty(t, contract.Label)
		assert.Empty(t, contract.PriorityMethods)
		assert.Equal(t, "300", contract.Amount.String())
	}
	card, err := w.app.Cards.Create(t.Context(), appapi.CardCreate{})
	require.NoError(t, err)
	_, err = w.app.Cards.SetLabel(t.Context(), card.ID, "Travel")
	require.NoError(t, err)
	card, err = w.app.Cards.SetLabel(t.Context(), card.ID, "")
	require.NoError(t, err)
	assert.Empty(t, card.Label)
}

// A contact's id with its prefix serves everywhere but in a transfer.
func TestAContactByItsPrefix(t *testing.T) {
	w := newWorld(t)
	id := "ct_" + w.bob()
	contact, err := w.app.Contacts.Update(t.Context(), id, appapi.ContactUpdate{Name: model.Set("Robert")})
	require.NoError(t, err)
	assert.Equal(t, "Robert", contact.Name)
	quote, err := w.app.Quotes.Payout(t.Context(), appapi.BalancePayoutQuote{ContactID: id, Amount: price("10")})
	require.NoError(t, err)
	_, err = w.app.Transfers.Send(t.Context(), appapi.ToContact{ContactID: id, Amount: price("10")}, "by-prefix")
	assert.Equal(t, "contactId", as[*errors.InvalidInput](t, err).Fields[0].Field)
	_, err = w.app.Transfers.Send(t.Context(), appapi.ToQuote{QuoteID: quote.QuoteID}, "by-quote")
	require.NoError(t, err)
	require.NoError(t, w.app.Contacts.Delete(t.Context(), id))
}

// What the host assumes as the SDK's description does, the host refuses: the SDK has sent it.
func TestTheHostJudgesWhatIsAssumed(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		call        func() error
		field, code string
	}{
		"a page of 101": {func() error {
			_, err := w.app.Contacts.List(t.Context(), appapi.ListContactsParams{Limit: 101})
			return err
		}, "limit", "less_than_equal"},
		"an invoice without lines": {func() error {
			_, err := w.app.Invoices.Create(t.Context(),
				appapi.InvoiceCreate{Currency: "USD", ClientEmail: "a@example.com"})
			return err
		}, "items", "missing"},
		"a line that costs less than nothing": {func() error {
			line := model.LineItem{Name: "Advice", Quantity: number("1"), Price: price("-1")}
			_, err := w.app.Invoices.Create(t.Context(),
				appapi.InvoiceCreate{Currency: "USD", ClientEmail: "a@example.com", Items: []model.LineItem{line}})
			return err
		}, "items.0.price", "greater_than_equal"},
		"a negative transfer": {func() error {
			_, err := w.app.Transfers.Send(t.Context(), appapi.ToContact{ContactID: w.bob(), Amount: price("-1")}, "k")
			return err
		}, "amount", "greater_than"},
		"a quote of nothing": {func() error {
			_, err := w.app.Quotes.SubmitPayin(t.Context(), "")
			return err
		}, "quoteId", "missing"},
		"no document": {func() error {
			_, err := w.app.Documents.Upload(t.Context(), appapi.DocumentUpload{})
			return err
		}, "base64", "missing"},
		"an invoice by its number": {func() error {
			_, err := w.app.Invoices.Get(t.Context(), "INV 7=é")
			return err
		}, "invoice_id", "uuid_parsing"},
	} {
		t.Run(name, func(t *testing.T) {
			refused := as[*errors.ValidationFailed](t, c.call())
			require.Len(t, refused.Fields, 1)
			assert.Equal(t, c.field, refused.Fields[0].Field)
			assert.Equal(t, c.code, refused.Fields[0].Code)
		})
	}
	assert.Equal(t, "200", w.balance())
}
