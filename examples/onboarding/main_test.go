package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestRunsAlone(t *testing.T) { rehearsal.RunAlone(t, run) }

func TestOnboardingToRequisites(t *testing.T) {
	_, flags := rehearsal.Host(t)
	requisites := rehearsal.Run(t, run, flags,
		"created client cl_", "which is ready",
		"2 requirements are outstanding", "applicant.country", "documentIds",
		"0 requirements are outstanding",
		"completed the verification: snapshot kyb", "the verification is approved",
		"sepa EUR is available", "requested the rail sepa EUR", "virtual account bnk_")
	assert.Regexp(t,
		`\n    Account holder  Example\n    IBAN            DE\d{20}\n`+
			`    BIC             \w+\n    Bank            Licensed banking partner\n$`, requisites)
}

func TestARailOutsideTheAgreementIsRefused(t *testing.T) {
	_, flags := rehearsal.Host(t,
		sandbox.WithSettings(func(s *sandbox.Settings) { s.RailsDisabled = []string{string(dapi.BankMethodSEPA)} }))
	var refused *errors.RailNotAvailable
	require.ErrorAs(t, run(t.Context(), flags, &bytes.Buffer{}), &refused)
}

func TestRejectedClientSeesBlockers(t *testing.T) {
	_, flags := rehearsal.Host(t,
		sandbox.WithSettings(func(s *sandbox.Settings) { s.KYBDecision = sandbox.KYBDecisionReject }))
	var out bytes.Buffer
	var unmet *errors.RailRequirementsUnmet
	require.ErrorAs(t, run(t.Context(), flags, &out), &unmet)
	rehearsal.CheckSteps(t, out.String(), "the verification is rejected", "verification_rejected: ")
}
