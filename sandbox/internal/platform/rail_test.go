package platform_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

func (b *bench) rails(account string) []platformwire.Rail {
	response, err := b.ListRails(b.as(account, ""), platformwire.ListRailsParams{})
	require.NoError(b, err)
	return read[platformwire.RailPage](b, render(b, response)).Items
}

func TestRailsAreTheCoverageCatalogue(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../../openapi/coverage.yaml")
	require.NoError(t, err)
	var coverage struct {
		MoneyIn []platformwire.RailCreate `yaml:"moneyIn"`
	}
	require.NoError(t, yaml.Unmarshal(source, &coverage))

	var listed []platformwire.RailCreate
	for _, rail := range newBench(t).rails(wire.Self) {
		listed = append(listed, platformwire.RailCreate{Method: rail.Method, Currency: rail.Currency})
	}
	assert.Equal(t, coverage.MoneyIn, listed)
}

// What a payer is told is enough to be paid by: a contact with these details has no blockers, checksums included.
func TestRequisitesRouteMoney(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	b.verify(client)
	for _, rail := range b.rails(client) {
		t.Run(string(rail.Method), func(t *testing.T) {
			opened := b.virtualAccount(client, platformwire.RailCreate{Method: rail.Method, Currency: rail.Currency})
			requisites := opened.Requisites
			assert.Equal(t, "acme@example.com", requisites.AccountHolderName)
			assert.Equal(t, "Licensed banking partner", requisites.BankName, "no partner is ever named")

			contact, err := json.Marshal(map[string]any{"account": map[string]any{
				"accountType": rail.Method, "accountHolderName": requisites.AccountHolderName,
				"currency": rail.Currency,
				"iban":     requisites.IBAN, "bic": requisites.BIC, "accountNumber": requisites.AccountNumber,
				"routingNumber": requisites.RoutingNumber, "paymentKey": requisites.PaymentKey,
				"pixKey": requisites.PaymentKey,
			}})
			require.NoError(t, err)
			assert.Empty(t, b.capabilities(client, b.contact(client, string(contact)).ID).Blockers)

			again := b.virtualAccount(client, platformwire.RailCreate{Method: rail.Method, Currency: rail.Currency})
			assert.Equal(t, opened, again)
		})
	}
}

// The control digit of an 18-digit Mexican account number makes the weighted sum a multiple of ten.
func TestSPEIAccountsCarryTheirControlDigit(t *testing.T) {
	t.Parallel()
	number := newBench(t).virtualAccount(wire.Self,
		platformwire.RailCreate{Method: platformwire.BankMethodSPEI, Currency: "MXN"}).Requisites.AccountNumber
	for _, clabe := range []string{number, "032180000118359719"} { // and a published one
		require.Len(t, clabe, 18)
		sum := 0
		for i, digit := range clabe[:17] {
			sum += int(digit-'0') * []int{3, 7, 1}[i%3] % 10
		}
		assert.Zero(t, (sum+int(clabe[17]-'0'))%10, clabe)
	}
}

func TestARailWaitsForItsVirtualAccount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(func(s *deployment.Settings) { s.RailActiveAfter = deployment.Duration(time.Minute) })
	sepa := platformwire.RailCreate{Method: platformwire.BankMethodSEPA, Currency: "EUR"}
	pending, err := b.openRail(wire.Self, sepa)
	require.NoError(t, err)
	assert.Equal(t, platformwire.Rail{Method: "sepa", Currency: "EUR", Status: platformwire.RailStatusPending}, pending)
	b.clock.Advance(time.Minute - time.Millisecond)
	pending, err = b.openRail(wire.Self, sepa)
	require.NoError(t, err)
	assert.Equal(t, platformwire.RailStatusPending, pending.Status)
	b.clock.Advance(time.Millisecond)
	active, err := b.openRail(wire.Self, sepa)
	require.NoError(t, err)
	assert.Equal(t, platformwire.RailStatusActive, active.Status)
	assert.NotNil(t, active.VirtualAccount)
}

func TestVerificationStandsBeforeRails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(func(s *deployment.Settings) { s.KYBDecision = deployment.KYBDecisionReject })
	client := b.readyClient("acme@example.com")
	blockers := func() []string {
		_, err := b.openRail(client, platformwire.RailCreate{Method: platformwire.BankMethodACH, Currency: "USD"})
		var refusal *wire.Refusal
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, "rail_requirements_unmet", refusal.Code)
		var codes []string
		for _, blocker := range refusal.Details["blockers"].([]wire.Blocker) {
			codes = append(codes, blocker.Code)
		}
		return codes
	}
	assert.Equal(t, "verification_not_completed", blockers()[0])
	_, err := b.saveKYB(client, platformwire.KYBInformation{
		Applicant:   map[string]any{"firstName": "Ann", "lastName": "Roe", "country": "DE"},
		DocumentIds: []string{"doc_1"},
	})
	require.NoError(t, err)
	_, err = b.completeKYB(client)
	require.NoError(t, err)
	assert.Equal(t, []string{"verification_under_review"}, blockers())
	b.clock.Advance(time.Minute)
	assert.Equal(t, []string{"verification_rejected"}, blockers())
}
