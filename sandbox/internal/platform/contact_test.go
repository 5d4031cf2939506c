package platform_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func TestContactUpdateTellsAbsentFromNull(t *testing.T) {
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

func TestEmailContactResolvesAnewAndStaysUnique(t *testing.T) {
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

func TestDeletedContactIsGoneAndCanBeCreatedAnew(t *testing.T) {
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
