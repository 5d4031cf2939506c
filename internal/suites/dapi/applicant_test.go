package dapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// The host takes what an applicant says by the assumed names: only the document is outstanding then.
func TestTheHostKnowsTheNamesOfAnApplicant(t *testing.T) {
	w := newWorld(t)
	platform := w.integrator()
	for email, applicant := range map[string]dapi.Applicant{
		"business@example.com": {LegalName: "Example", Country: "DE"},
		"person@example.com":   {FirstName: "Bob", LastName: "Roe", Country: "DE"},
		"further@example.com":  {Country: "DE", Further: map[string]any{"entityName": "Example"}},
	} {
		client, err := platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: email})
		require.NoError(t, err)
		saved, err := platform.For(client.ID).Verification.Save(t.Context(),
			dapi.KYBInformation{Applicant: applicant.Map()})
		require.NoError(t, err)
		require.Len(t, saved.Requirements, 1, email)
		assert.Equal(t, "documentIds", saved.Requirements[0].Field)
	}
}
