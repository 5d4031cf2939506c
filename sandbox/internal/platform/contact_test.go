package platform_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

func TestContactHasExactlyOneDestination(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.createClient(platformwire.ClientCreate{Email: "acme@example.com"})
	const (
		account = `"account":{"accountType":"sepa","iban":"DE89370400440532013000"}`
		bank    = `"bank":{"method":"ach","currency":"USD","fields":{"accountNumber":"1",` +
			`"routingNumber":"021000021"},"holder":{"name":"Bob"}}`
		crypto = `"crypto":{"chain":"base","token":"USDC","address":"0x1111111111111111111111111111111111111111"}`
		email  = `"email":"acme@example.com"`
	)
	for name, tc := range map[string]struct {
		body string
		want error
	}{
		"account":                  {body: `{` + account + `}`},
		"bank":                     {body: `{` + bank + `}`},
		"crypto":                   {body: `{` + crypto + `}`},
		"email":                    {body: `{` + email + `}`},
		"others null":              {body: `{"account":null,"bank":null,"email":null,` + crypto + `}`},
		"email variant, no type":   {body: `{"account":{"email":"acme@example.com"}}`},
		"onchain variant, no type": {body: `{"account":{"walletAddress":"0x1","chainId":"base","currency":"USDC"}}`},
		"none":                     {body: `{"name":"Bob"}`, want: wire.InvalidRequest("")},
		"all null":                 {body: `{"account":null}`, want: wire.InvalidRequest("")},
		"account and email":        {body: `{` + account + `,` + email + `}`, want: wire.InvalidRequest("")},
		"bank and crypto":          {body: `{` + bank + `,` + crypto + `}`, want: wire.InvalidRequest("")},
		"unknown email":            {body: `{"email":"nobody@example.com"}`, want: wire.NotFound()},
		"unknown email variant": {body: `{"account":{"accountType":"email","email":"nobody@example.com"}}`,
			want: wire.NotFound()},
		"fields of another type": {body: `{"bank":{"method":"ach","currency":"USD","fields":{"iban":7},"holder":{}}}`,
			want: wire.InvalidField("", "", "")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.contactFrom(wire.Self, tc.body)
			if tc.want == nil {
				require.NoError(t, err)
			} else {
				assert.ErrorIs(t, err, tc.want)
			}
		})
	}
}

func TestContactIsDeduplicatedByItsAccountDetails(t *testing.T) {
	t.Parallel()
	const typed = `{"name":"A","account":{"accountType":"onchain",` +
		`"walletAddress":"0xABCDEFabcdef1111111111111111111111111111","chainId":"base","currency":"USDC"}}`
	for name, tc := range map[string]struct {
		first, second string
		same          bool
	}{
		"same details, other name": {sepaContact,
			`{"name":"Robert","account":{"accountType":"sepa","iban":"DE89370400440532013000"}}`, true},
		"other IBAN": {sepaContact,
			`{"name":"Bob","account":{"accountType":"sepa","iban":"GB82WEST12345698765432"}}`, false},
		"other holder": {sepaContact,
			`{"name":"Bob","account":{"accountType":"sepa","iban":"DE89370400440532013000","accountHolderName":"Eve"}}`,
			false},
		"other method": {achContact,
			`{"name":"Ann","account":{"accountType":"rtp","accountNumber":"000123456789","routingNumber":"021000021"}}`,
			false},
		"address in another case": {typed,
			`{"name":"A","account":{"accountType":"onchain",` +
				`"walletAddress":"0xabcdefabcdef1111111111111111111111111111","chainId":"base","currency":"USDC"}}`, true},
		"legacy form of a wallet": {typed,
			`{"crypto":{"chain":"base","token":"USDC","address":"0xABCDEFabcdef1111111111111111111111111111"}}`, true},
		"legacy form of a bank": {`{"account":{"accountType":"ach","currency":"USD","accountNumber":"1",` +
			`"routingNumber":"021000021","accountHolderName":"Bob"}}`, `{"bank":{"method":"ach","currency":"USD",` +
			`"fields":{"accountNumber":"1","routingNumber":"021000021"},"holder":{"name":"Bob"}}}`, true},
		"other token": {typed,
			`{"crypto":{"chain":"base","token":"EURC","address":"0xABCDEFabcdef1111111111111111111111111111"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			first, err := b.contactFrom(wire.Self, tc.first)
			require.NoError(t, err)
			assert.Equal(t, http.StatusCreated, first.Code)
			second, err := b.contactFrom(wire.Self, tc.second)
			require.NoError(t, err)
			assert.Equal(t, tc.same, second.replayed())
			assert.Equal(t, tc.same, read[platformwire.Contact](t, first).ID == read[platformwire.Contact](t, second).
				ID)
		})
	}
}

func TestContactBelongsToOneAccount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	acme, other := b.readyClient("acme@example.com"), b.readyClient("other@example.com")
	mine := b.contact(acme, sepaContact)
	theirs := b.contact(other, sepaContact)
	assert.NotEqual(t, mine.ID, theirs.ID, "deduplicated within an account")

	_, err := b.DeleteContact(b.as(other, ""), mine.ID)
	assert.ErrorIs(t, err, wire.NotFound())
	_, err = b.UpdateContact(b.as(wire.Self, ""), mine.ID, platformwire.ContactUpdate{})
	assert.ErrorIs(t, err, wire.NotFound())
	_, err = b.GetContactCapabilities(b.as(other, ""), mine.ID)
	assert.ErrorIs(t, err, wire.NotFound())
}

func TestContactUpdateDistinguishesAbsentAndNull(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	created := b.contact(wire.Self,
		`{"name":"Bob","isExternal":false,"address":{"city":"Paris"},"account":{"accountType":"sepa",`+
			`"iban":"DE89370400440532013000"}}`)
	update := func(patch string) platformwire.Contact {
		var body platformwire.ContactUpdate
		require.NoError(t, json.Unmarshal([]byte(patch), &body))
		response, err := b.UpdateContact(b.as(wire.Self, ""), created.ID[len("ct_"):], body)
		require.NoError(t, err)
		return read[platformwire.Contact](t, render(t, response))
	}
	assert.Equal(t, created, update(`{}`), "absent stays")
	assert.Equal(t, "Robert", update(`{"name":"Robert"}`).Name)
	assert.Equal(t, "Rome", update(`{"address":{"city":"Rome"}}`).Address.City)
	assert.Nil(t, update(`{"address":null}`).Address)
	assert.Equal(t, "bob@example.com", update(`{"email":"bob@example.com"}`).Email)
	assert.Empty(t, update(`{"email":null}`).Email)
	assert.True(t, update(`{"isExternal":null}`).IsExternal, "null is the default")
	assert.False(t, update(`{"isExternal":false}`).IsExternal)
	assert.Equal(t, "USD", update(`{"currency":"USD"}`).Bank.Currency)
	assert.Equal(t, "EUR", update(`{"currency":null}`).Bank.Currency)
}

func TestEmailContactUpdateStaysUnique(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	acme := read[platformwire.Client](t,
		b.createClient(platformwire.ClientCreate{Email: "acme@example.com", EntityName: "Acme"}))
	b.createClient(platformwire.ClientCreate{Email: "other@example.com"})
	first := b.contact(wire.Self, `{"email":"acme@example.com"}`)
	assert.Equal(t, "Acme", first.User.DisplayName)
	assert.Equal(t, first.UserID, first.User.ID)
	second := b.contact(wire.Self, `{"email":"other@example.com"}`)
	assert.NotEqual(t, acme.ID, second.UserID)

	for patch, want := range map[string]error{
		`{"email":"nobody@example.com"}`: wire.NotFound(),
		`{"email":"acme@example.com"}`:   wire.Conflict(""),
		`{"email":null}`:                 wire.InvalidRequest(""),
		`{"email":"OTHER@example.com"}`:  nil,
	} {
		var body platformwire.ContactUpdate
		require.NoError(t, json.Unmarshal([]byte(patch), &body))
		_, err := b.UpdateContact(b.as(wire.Self, ""), second.ID, body)
		if want == nil {
			require.NoError(t, err, patch)
		} else {
			assert.ErrorIs(t, err, want, patch)
		}
	}
}

func TestDeletedContactCanBeCreatedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	created := b.contact(wire.Self, sepaContact)
	response, err := b.DeleteContact(b.as(wire.Self, ""), created.ID)
	require.NoError(t, err)
	assert.Equal(t, http.StatusNoContent, render(t, response).Code)

	_, err = b.DeleteContact(b.as(wire.Self, ""), created.ID)
	assert.ErrorIs(t, err, wire.NotFound())
	again, err := b.contactFrom(wire.Self, sepaContact)
	require.NoError(t, err)
	assert.Equal(t, http.StatusCreated, again.Code)
	assert.NotEqual(t, created.ID, read[platformwire.Contact](t, again).ID)
}

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
			created := b.contact(wire.Self, tc.contact)
			got := b.capabilities(wire.Self, created.ID)
			var blockers []string
			for _, blocker := range got.Blockers {
				assert.NotEmpty(t, blocker.Message)
				blockers = append(blockers, blocker.Code+" "+blocker.Field)
			}
			assert.Equal(t, tc.want, blockers)
			assert.Equal(t, len(tc.want) == 0, *got.Payable)
			assert.Equal(t, *got.Payable, len(got.Methods) > 0)

			_, err := b.book(wire.Self, "", order(created.ID, "20"))
			if *got.Payable {
				assert.NoError(t, err)
			} else {
				assert.Len(t, details[[]wire.Blocker](t, err, "contact_not_payable", "blockers"), len(tc.want))
			}
		})
	}
}

func TestDisabledMethodIsABlocker(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(func(s *deployment.Settings) { s.PayoutMethodsDisabled = []string{"sepa"} })
	sepa, ach := b.contact(wire.Self, sepaContact), b.contact(wire.Self, achContact)
	assert.Equal(t, "channel_unavailable", b.capabilities(wire.Self, sepa.ID).Blockers[0].Code)
	assert.True(t, *b.capabilities(wire.Self, ach.ID).Payable)
}

func TestBankMethodsHaveTheCurrencyOfTheCatalogue(t *testing.T) {
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
		created := b.contact(wire.Self, fmt.Sprintf(`{"name":"Bob","account":{"accountType":%q,
			"iban":"DE89370400440532013000","bic":"EXAMDEFF","accountNumber":"1","routingNumber":"021000021",
			"branchNumber":"1","pixKey":"k","paymentKey":"k","phoneNumber":"+15550100"}}`, entry.Method))
		got := b.capabilities(wire.Self, created.ID)
		require.Empty(t, got.Blockers, entry.Method)
		assert.Equal(t, []platformwire.ContactMethod{{Method: entry.Method, Currency: currency[entry.Method]}},
			got.Methods)
		quote := b.booked(wire.Self, "", order(created.ID, "20")).Quote
		assert.Equal(t, currency[entry.Method], quote.DestinationCurrency)
		assert.True(t, quote.DestinationAmount.IsPositive(), entry.Method)
	}
}

// The SDK warns about what the catalogue says is assumed to be needed. The host needs the same.
func TestBankMethodsNeedTheFieldsOfTheCatalogue(t *testing.T) {
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
		for _, either := range platformwire.CoverageMethods[entry.Method].Needed() {
			listed = append(listed, strings.Join(either, "|"))
		}
		assert.Equal(t, listed, entry.Needs, entry.Method)
	}
}

func TestCapabilitiesSayCrossChain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.createClient(platformwire.ClientCreate{Email: "acme@example.com"})
	b.clock.Advance(1e9)
	for body, want := range map[string][]platformwire.ContactMethod{
		baseContact:                    {{Method: "onchain", Currency: "USDC"}},
		farContact:                     {{Method: "onchain", Currency: "USDT", CrossChain: true}},
		`{"email":"acme@example.com"}`: {{Method: "onchain", Currency: "USDC"}, {Method: "onchain", Currency: "EURC"}},
	} {
		assert.Equal(t, want, b.capabilities(wire.Self, b.contact(wire.Self, body).ID).Methods)
	}
}

// Any contact is refused, or it can be read and its capabilities computed.
func FuzzCreateContact(f *testing.F) {
	for _, seed := range []string{
		sepaContact, achContact, baseContact, farContact, `{"email":"ops@example.com"}`, `{"account":[]}`,
		`{"account":{"accountType":7}}`,
		`{"name":"é","account":{"accountType":"pix","pixKey":"jééé@é"}}`,
		`{"bank":{"method":"ach","currency":"USD","fields":{"accountNumber":{}},"holder":{"name":[]}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := newBench(t)
		var body platformwire.ContactCreate
		if json.Unmarshal([]byte(text), &body) != nil {
			t.Skip("not an input: a body that is not a contact does not pass the gate; " +
				"the seeds that are one are run by make test")
		}
		response, err := b.CreateContact(b.as(wire.Self, ""), body)
		if err != nil {
			var refusal *wire.Refusal
			require.ErrorAs(t, err, &refusal)
			return
		}
		created := read[platformwire.Contact](t, render(t, response))
		if *b.capabilities(wire.Self, created.ID).Payable {
			_, err = b.book(wire.Self, "", order(created.ID, "50"))
			require.NoError(t, err)
		}
	})
}

// Any cursor continues the list or is refused.
func FuzzCursor(f *testing.F) {
	seeding := newBench(f)
	seeding.depositMany(wire.Self, 3)
	page, err := seeding.transactions(wire.Self, platformwire.ListTransactionsParams{Limit: 1})
	require.NoError(f, err)
	f.Add(page.NextCursor)
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, cursor string) {
		b := newBench(t)
		b.depositMany(wire.Self, 3)
		_, err := b.transactions(wire.Self, platformwire.ListTransactionsParams{Cursor: cursor})
		if err != nil && !errors.Is(err, wire.InvalidCursor()) {
			t.Fatal(err)
		}
	})
}
