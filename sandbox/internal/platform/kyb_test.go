package platform_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

func TestRequirementsFollowTheLegalForm(t *testing.T) {
	t.Parallel()
	type applicant = map[string]any
	name := []string{"applicant.legalName"}
	for what, tc := range map[string]struct {
		kind      platformwire.ClientType
		applicant applicant
		want      []string
	}{
		"business by legal name":  {platformwire.ClientTypeBusiness, applicant{"legalName": "Acme Ltd"}, nil},
		"business by entity name": {platformwire.ClientTypeBusiness, applicant{"entityName": "Acme Ltd"}, nil},
		"business by a person": {platformwire.ClientTypeBusiness,
			applicant{"firstName": "Ann", "lastName": "Roe"}, name},
		"business of blanks":   {platformwire.ClientTypeBusiness, applicant{"legalName": "  "}, name},
		"business of a number": {platformwire.ClientTypeBusiness, applicant{"legalName": 7}, name},
		"individual": {platformwire.ClientTypeIndividual,
			applicant{"firstName": "Ann", "lastName": "Roe"}, nil},
		"individual by legal name": {platformwire.ClientTypeIndividual, applicant{"legalName": "Acme Ltd"},
			[]string{"applicant.firstName", "applicant.lastName"}},
		"individual without surname": {platformwire.ClientTypeIndividual, applicant{"firstName": "Ann"},
			[]string{"applicant.lastName"}},
		"either, as a business":  {"", applicant{"legalName": "Acme Ltd"}, nil},
		"either, as a person":    {"", applicant{"firstName": "Ann", "lastName": "Roe"}, nil},
		"either, half a person":  {"", applicant{"lastName": "Roe"}, []string{"applicant.firstName"}},
		"either, without a name": {"", applicant{}, name},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			id := read[platformwire.Client](b,
				b.createClient(platformwire.ClientCreate{Email: "acme@example.com", Type: tc.kind})).ID
			tc.applicant["country"] = "DE"
			saved, err := b.saveKYB(id,
				platformwire.KYBInformation{Applicant: tc.applicant, DocumentIds: []string{"doc_1"}})
			require.NoError(t, err)
			var got []string
			for _, open := range saved.Requirements {
				got = append(got, open.Field)
			}
			assert.Equal(t, tc.want, got)
			_, err = b.completeKYB(id)
			assert.Equal(t, tc.want == nil, err == nil)
		})
	}
}

func TestAVerificationHoldsSoManyDocuments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.readyClient("acme@example.com")
	save := func(from, to int) error {
		var ids []string
		for i := from; i < to; i++ {
			ids = append(ids, fmt.Sprintf("doc_%d", i))
		}
		_, err := b.saveKYB(client, platformwire.KYBInformation{DocumentIds: ids})
		return err
	}
	require.NoError(t, save(0, 50))
	require.NoError(t, save(0, 50), "the same ones again")
	assert.ErrorIs(t, save(50, 51), wire.ValidationFailed(""))
}

// The order in which documents were saved is no part of what is submitted.
func TestTheSameContentIsTheSameSubmission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.readyClient("acme@example.com")
	b.verify(client)
	first, err := b.completeKYB(client)
	require.NoError(t, err)
	_, err = b.saveKYB(client, platformwire.KYBInformation{Applicant: map[string]any{"country": "DE", "note": nil},
		DocumentIds: []string{"doc_1"}})
	require.NoError(t, err)
	again, err := b.completeKYB(client)
	require.NoError(t, err)
	assert.Equal(t, first, again)

	_, err = b.saveKYB(client, platformwire.KYBInformation{DocumentIds: []string{"doc_2"}})
	require.NoError(t, err)
	changed, err := b.completeKYB(client)
	require.NoError(t, err)
	assert.NotEqual(t, first.SnapshotID, changed.SnapshotID)
}
