package platform_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/coverage"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

func (b *bench) capabilities(account, contactID string) platformwire.ContactCapabilities {
	response, err := b.GetContactCapabilities(b.as(account, ""), contactID)
	require.NoError(b, err)
	return read[platformwire.ContactCapabilities](b, render(b, response))
}

func TestBlockersOfAContact(t *testing.T) {
	t.Parallel()
	bank := func(account string) string { return `{"name":"Bob","account":{` + account + `}}` }
	onchain := func(chain, token, address string) string {
		return fmt.Sprintf(`{"account":{"accountType":"onchain","chainId":%q,"currency":%q,"walletAddress":%q}}`, chain,
			token, address)
	}
	const wallet = "0x1111111111111111111111111111111111111111"
	for name, tc := range map[string]struct {
		contact string
		want    []string // code and field of each blocker
	}{
		"sepa":              {contact: sepaContact},
		"sepa without IBAN": {bank(`"accountType":"sepa"`), []string{"account_detail_missing iban"}},
		"IBAN with a wrong checksum": {bank(`"accountType":"sepa","iban":"DE89370400440532013001"`),
			[]string{"account_detail_invalid iban"}},
		"IBAN with separators": {bank(`"accountType":"sepa","iban":"DE89 3704 0044 0532 0130 00"`),
			[]string{"account_detail_invalid iban"}},
		"IBAN of a length that its country does not have": {bank(`"accountType":"sepa","iban":"DE68210501700012345"`),
			[]string{"account_detail_invalid iban"}},
		"IBAN of a country that has none": {bank(`"accountType":"sepa","iban":"US62370400440532013000"`),
			[]string{"account_detail_invalid iban"}},
		"an address in no country": {`{"name":"Bob","address":{"country":"XX"},"account":{"accountType":"sepa",` +
			`"iban":"DE89370400440532013000"}}`, []string{"account_detail_invalid address.country"}},
		"an address in a country by its name": {`{"name":"Bob","address":{"country":"Germany"},"account":{` +
			`"accountType":"sepa","iban":"DE89370400440532013000"}}`, []string{"account_detail_invalid address.country"}},
		"an address": {contact: `{"name":"Bob","address":{"country":"DE"},"account":{"accountType":"sepa",` +
			`"iban":"DE89370400440532013000"}}`},
		"a nationality of no country": {bank(`"accountType":"sepa","iban":"DE89370400440532013000",` +
			`"holderNationality":"ZZ"`), []string{"account_detail_invalid holderNationality"}},
		"no holder": {`{"account":{"accountType":"sepa","iban":"DE89370400440532013000"}}`,
			[]string{"holder_name_missing accountHolderName"}},
		"holder in two names": {contact: `{"account":{"accountType":"sepa","iban":"DE89370400440532013000",` +
			`"accountHolderFirstName":"Bob","accountHolderLastName":"Roe"}}`},
		"no holder, no IBAN": {`{"account":{"accountType":"sepa"}}`,
			[]string{"holder_name_missing accountHolderName", "account_detail_missing iban"}},
		"another currency": {bank(`"accountType":"sepa","currency":"USD","iban":"DE89370400440532013000"`),
			[]string{"currency_not_supported currency"}},
		"routing number": {bank(`"accountType":"ach","accountNumber":"1","routingNumber":"021000022"`),
			[]string{"account_detail_invalid routingNumber"}},
		"swift by account number": {contact: bank(`"accountType":"swift","bic":"EXAMDEFF","accountNumber":"1"`)},
		"swift with neither": {bank(`"accountType":"swift","bic":"DEUTDEF"`),
			[]string{"account_detail_missing accountNumber", "account_detail_invalid bic"}},
		"mobile wallet": {bank(`"accountType":"bdt_ewallet","accountNumber":"1"`),
			[]string{"account_detail_missing phoneNumber"}},
		"unknown legacy method": {`{"name":"B","bank":{"method":"carrier_pigeon","currency":"USD","fields":{},` +
			`"holder":{}}}`, []string{"method_not_supported accountType"}},
		"Base":           {contact: onchain("base", "USDC", wallet)},
		"off Base":       {contact: onchain("polygon", "USDT", wallet)},
		"unknown chain":  {onchain("moonbase", "USDC", wallet), []string{"chain_not_live chainId"}},
		"unlisted token": {onchain("base", "USDT", wallet), []string{"token_not_listed currency"}},
		"short address": {onchain("base", "USDC", "0x1"),
			[]string{"account_detail_invalid walletAddress"}},
		"account that is not ready": {`{"email":"acme@example.com"}`, []string{"account_not_ready email"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.createClient(platformwire.ClientCreate{Email: "acme@example.com"})
			created := b.contact(caller.Self, tc.contact)
			got := b.capabilities(caller.Self, created.ID)
			var blockers []string
			for _, blocker := range got.Blockers {
				assert.NotEmpty(t, blocker.Message)
				blockers = append(blockers, blocker.Code+" "+blocker.Field)
			}
			assert.Equal(t, tc.want, blockers)
			assert.Equal(t, len(tc.want) == 0, *got.Payable)
			assert.Equal(t, *got.Payable, len(got.Methods) > 0)

			_, err := b.book(caller.Self, "", order(created.ID, "20"))
			if *got.Payable {
				assert.NoError(t, err)
			} else {
				assert.Len(t, details[[]refuse.Blocker](t, err, "contact_not_payable", "blockers"), len(tc.want))
			}
		})
	}
}

func TestDisabledMethodIsABlocker(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(func(s *deployment.Settings) { s.PayoutMethodsDisabled = []string{"sepa"} })
	sepa, ach := b.contact(caller.Self, sepaContact), b.contact(caller.Self, achContact)
	assert.Equal(t, "channel_unavailable", b.capabilities(caller.Self, sepa.ID).Blockers[0].Code)
	assert.True(t, *b.capabilities(caller.Self, ach.ID).Payable)
}

func TestEveryMethodPaysOutTheCurrencyOfTheCatalogue(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../../openapi/coverage.yaml")
	require.NoError(t, err)
	var catalogue struct {
		Methods  []struct{ Method string }
		MoneyOut []struct {
			Currency string
			Methods  []string
		} `yaml:"moneyOut"`
	}
	require.NoError(t, yaml.Unmarshal(source, &catalogue))
	currency := map[string]string{}
	for _, row := range catalogue.MoneyOut {
		for _, method := range row.Methods {
			currency[method] = row.Currency
		}
	}
	b := newBench(t)
	for _, entry := range catalogue.Methods {
		created := b.contact(caller.Self, fmt.Sprintf(`{"name":"Bob","account":{"accountType":%q,
			"iban":"DE89370400440532013000","bic":"EXAMDEFF","accountNumber":"1","routingNumber":"021000021",
			"branchNumber":"1","pixKey":"k","paymentKey":"k","phoneNumber":"+15550100"}}`, entry.Method))
		got := b.capabilities(caller.Self, created.ID)
		require.Empty(t, got.Blockers, entry.Method)
		assert.Equal(t, []platformwire.ContactMethod{{Method: entry.Method, Currency: currency[entry.Method]}},
			got.Methods)
		quote := b.booked(caller.Self, "", order(created.ID, "20")).Quote
		assert.Equal(t, currency[entry.Method], quote.DestinationCurrency)
		assert.True(t, quote.DestinationAmount.IsPositive(), entry.Method)
	}
}

// The SDK warns about what the catalogue says is assumed to be needed. The host needs the same.
func TestEveryMethodNeedsWhatTheCatalogueAssumes(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../../openapi/coverage.yaml")
	require.NoError(t, err)
	var catalogue struct {
		Methods []struct {
			Method string
			Needs  []string
		}
	}
	require.NoError(t, yaml.Unmarshal(source, &catalogue))
	for _, entry := range catalogue.Methods {
		var listed []string
		for _, either := range coverage.Methods[entry.Method].Needed() {
			listed = append(listed, strings.Join(either, "|"))
		}
		assert.Equal(t, listed, entry.Needs, entry.Method)
	}
}

func TestCrossChainIsSaidInAdvance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.createClient(platformwire.ClientCreate{Email: "acme@example.com"})
	b.clock.Advance(1e9)
	for body, want := range map[string][]platformwire.ContactMethod{
		baseContact:                    {{Method: "onchain", Currency: "USDC"}},
		farContact:                     {{Method: "onchain", Currency: "USDT", CrossChain: true}},
		`{"email":"acme@example.com"}`: {{Method: "onchain", Currency: "USDC"}, {Method: "onchain", Currency: "EURC"}},
	} {
		assert.Equal(t, want, b.capabilities(caller.Self, b.contact(caller.Self, body).ID).Methods)
	}
}
