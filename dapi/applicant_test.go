package dapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/dapi"
)

func TestAnApplicantIsAMap(t *testing.T) {
	assert.Empty(t, dapi.Applicant{}.Map())
	further := map[string]any{"taxNumber": 7, "country": nil}
	assert.Equal(t, map[string]any{"legalName": "a", "firstName": "b", "lastName": "c", "country": nil, "taxNumber": 7},
		dapi.Applicant{LegalName: "a", FirstName: "b", LastName: "c", Country: "DE", Further: further}.Map())
	assert.Len(t, further, 2, "it is the caller's")
}
