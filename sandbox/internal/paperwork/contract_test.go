package paperwork_test

import (
	"testing"
	"time"

	"github.com/oapi-codegen/nullable"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

func TestContractWithSignatureNeedsBothParties(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	yes := true
	created, err := o.CreateContract(as(acme),
		appwire.ContractCreate{ContractorEmail: ada, Type: commonwire.ContractTypeNDA, RequireSignature: &yes})
	require.NoError(t, err)
	assert.Equal(t, commonwire.ContractStatusPendingApprovalByContractor, created.Status)
	assert.Nil(t, created.ClientAcceptance)
	assert.NotEmpty(t, created.SignatureRequestID)
	assert.Equal(t, acme, created.Client.Email)
	assert.False(t, created.Contractor.IsBusiness)

	o.clock.Advance(299 * time.Millisecond)
	o.status(created.ID, commonwire.ContractStatusPendingApprovalByContractor)
	o.clock.Advance(time.Millisecond)
	o.status(created.ID, commonwire.ContractStatusPendingApprovalByClient)

	signed, err := o.ApproveContract(as(acme), created.ID)
	require.NoError(t, err)
	assert.Equal(t, commonwire.ContractStatusActive, signed.Status)
	assert.Len(t, signed.Signed, 2)
	assert.Equal(t, commonwire.OpenObject{"acceptedAt": "2026-03-01T12:00:00.3Z"}, signed.ContractorAcceptance)

	again, err := o.ApproveContract(as(acme), created.ID)
	require.NoError(t, err)
	assert.Equal(t, signed, again, "a repeat changes nothing")
}

func TestContractApprovalOrder(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	yes := true
	created, err := o.CreateContract(as(acme), appwire.ContractCreate{ContractorEmail: "ADA@example.com", Type: "msa",
		RequireSignature: &yes})
	require.NoError(t, err)
	first, err := o.ApproveContract(as(acme), created.ID)
	require.NoError(t, err)
	assert.Equal(t, commonwire.ContractStatusPendingApprovalByContractor, first.Status)
	second, err := o.ApproveContract(as(ada), created.ID)
	require.NoError(t, err)
	assert.Equal(t, commonwire.ContractStatusActive, second.Status)
}

func TestPausingAndResuming(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.contract()
	for range 2 {
		paused, err := o.PauseContract(as(acme), id)
		require.NoError(t, err)
		assert.Equal(t, commonwire.ContractStatusPaused, paused.Status)
	}
	_, err := o.CreateInvoiceFromContract(as(acme), id, appwire.ContractInvoiceCreate{})
	require.ErrorIs(t, err, wire.Conflict(""))
	resumed, err := o.ApproveContract(as(ada), id)
	require.NoError(t, err)
	assert.Equal(t, commonwire.ContractStatusActive, resumed.Status)

	offer, err := o.CreateContract(as(acme), appwire.ContractCreate{ContractorEmail: ada, Type: "other"})
	require.NoError(t, err)
	_, err = o.PauseContract(as(acme), offer.ID)
	require.ErrorIs(t, err, wire.Conflict(""), "an offer is not in force")
}

func TestContractExpiration(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.contract()
	end := o.clock.Now().Add(time.Hour)
	updated, err := o.UpdateContract(as(acme), id,
		appwire.ContractUpdate{ExpirationAt: nullable.NewNullableWithValue(end)})
	require.NoError(t, err)
	assert.Equal(t, end, updated.ExpirationAt)
	o.clock.Advance(time.Hour)
	o.status(id, commonwire.ContractStatusCompleted)

	_, err = o.ApproveContract(as(acme), id)
	require.ErrorIs(t, err, wire.Conflict(""))
	_, err = o.UpdateContract(as(acme), id, appwire.ContractUpdate{})
	require.ErrorIs(t, err, wire.Conflict(""))
	_, err = o.ReplacePaymentMethods(as(acme), id, nil)
	require.ErrorIs(t, err, wire.Conflict(""))
	require.ErrorIs(t, o.DeleteContract(as(acme), id), wire.Conflict(""))

	offer, err := o.CreateContract(as(acme), appwire.ContractCreate{ContractorEmail: ada, Type: "other"})
	require.NoError(t, err)
	soon := o.clock.Now().Add(time.Millisecond)
	_, err = o.UpdateContract(as(acme), offer.ID,
		appwire.ContractUpdate{ExpirationAt: nullable.NewNullableWithValue(soon)})
	require.NoError(t, err)
	o.clock.Advance(time.Hour)
	o.status(offer.ID, commonwire.ContractStatusCancelled)
}

func TestDeleteContract(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	offer, err := o.CreateContract(as(acme), appwire.ContractCreate{ContractorEmail: ada, Type: "other"})
	require.NoError(t, err)
	require.NoError(t, o.DeleteContract(as(acme), offer.ID))
	_, err = o.Contract(as(acme), offer.ID)
	require.ErrorIs(t, err, wire.NotFound())
	assert.Zero(t, *o.Contracts(as(acme), wire.Page{}).Total)

	id := o.contract()
	for range 2 {
		require.NoError(t, o.DeleteContract(as(acme), id))
		o.status(id, commonwire.ContractStatusCancelled)
	}
	require.ErrorIs(t, o.DeleteContract(as(eve), id), wire.NotFound())
}

func TestUpdateContractChangesGivenFields(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.contract()
	updated, err := o.UpdateContract(as(acme), id, appwire.ContractUpdate{
		Label:  nullable.NewNullableWithValue("Website"),
		Fields: appwire.ContractFieldsUpdate{Amount: nullable.NewNullableWithValue(decimal.NewFromInt(200))},
	})
	require.NoError(t, err)
	assert.Equal(t, "Website", updated.Label)
	assert.Equal(t, "200", updated.Amount.String())
	assert.Equal(t, commonwire.FiatCurrencyEUR, updated.Currency)
	assert.Equal(t, "monthly", updated.Period)
	for _, none := range []nullable.Nullable[string]{nullable.NewNullableWithValue(""),
		nullable.NewNullNullable[string]()} {
		_, err = o.UpdateContract(as(acme), id, appwire.ContractUpdate{Label: nullable.NewNullableWithValue("Website")})
		require.NoError(t, err)
		updated, err = o.UpdateContract(as(acme), id,
			appwire.ContractUpdate{Label: none, Fields: appwire.ContractFieldsUpdate{JobTitle: none}})
		require.NoError(t, err)
		assert.Empty(t, updated.Label)
		assert.NotContains(t, updated.Fields, "jobTitle")
		assert.Equal(t, "200", updated.Amount.String(), "what is absent stays")
	}

	activation, expiration := start.Add(time.Hour), start
	_, err = o.UpdateContract(as(acme), id, appwire.ContractUpdate{
		ActivationAt: nullable.NewNullableWithValue(activation),
		ExpirationAt: nullable.NewNullableWithValue(expiration),
		Fields: appwire.ContractFieldsUpdate{
			Amount: nullable.NewNullableWithValue(decimal.RequireFromString("1.001")),
		},
	})
	assert.Equal(t, map[string]string{"fields.amount": "amount_precision", "expirationAt": "greater_than"},
		fields(t, err))
}

func TestInvalidContracts(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, err := o.CreateContract(as(acme),
		appwire.ContractCreate{ContractorEmail: "ACME@example.com",
			Fields: appwire.ContractFields{Amount: decimal.NewFromInt(1)}})
	assert.Equal(t, map[string]string{"contractorEmail": "value_error", "fields.currency": "missing"}, fields(t, err))
	_, err = o.CreateContract(as(acme),
		appwire.ContractCreate{ContractorEmail: ada, Fields: appwire.ContractFields{Amount: decimal.NewFromInt(-1),
			Currency: "EUR"}})
	assert.Equal(t, map[string]string{"fields.amount": "greater_than"}, fields(t, err))
}

func TestContractsAreVisibleToTheirPartiesOnly(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.contract()
	for _, party := range []string{acme, ada, "ADA@Example.com"} {
		_, err := o.Contract(as(party), id)
		require.NoError(t, err, party)
	}
	read, err := o.Contract(as(acme), id)
	require.NoError(t, err)
	shouted, err := o.CreateContract(as(acme),
		appwire.ContractCreate{ContractorEmail: "ADA@Example.com", Type: "other"})
	require.NoError(t, err)
	assert.Equal(t, read.ContractorID, shouted.ContractorID, "the same account")
	_, err = o.Contract(as(eve), id)
	require.ErrorIs(t, err, wire.NotFound())
	_, err = o.Preview(as(eve), id)
	require.ErrorIs(t, err, wire.NotFound())
}

func TestPreviewsResolveTheFields(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	preview, err := o.Preview(as(acme), o.contract())
	require.NoError(t, err)
	assert.Equal(t, commonwire.OpenObject{
		"amount": "100", "currency": "EUR", "jobTitle": "Engineer", "clientName": acme, "contractorName": ada,
	}, preview.Fields)
	for _, want := range []string{"Service agreement", acme, ada, "100 EUR monthly", "Engineer"} {
		assert.Contains(t, preview.Text, want)
	}
}

func TestContractTemplates(t *testing.T) {
	t.Parallel()
	types := map[commonwire.ContractType]bool{}
	for _, template := range newOffice(t).Templates().Items {
		types[template.Type] = true
		assert.NotEmpty(t, template.Fields)
	}
	assert.Len(t, types, 10)
}
