package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// activeCard issues a card and lets the host's time pass until it can be used.
func (b bearer) activeCard() string {
	b.t.Helper()
	issued := b.got(http.StatusCreated, "POST", "/cards", object{"format": "virtual"})
	require.Equal(b.t, "pending", issued.text("status"))
	b.host.Advance(time.Minute)
	id := issued.text("id")
	require.Equal(b.t, "active", b.got(http.StatusOK, "GET", "/cards/"+id, nil).text("status"))
	return id
}

// proof is what the wallet signs to see a card.
func proof(t testing.TB, key *wallet.Key, card string, nonce int64) object {
	t.Helper()
	signature, err := key.SignMessage(t.Context(), fmt.Appendf(nil, "Reveal card %s at %d", card, nonce))
	require.NoError(t, err)
	return object{"messageSignature": signature, "nonce": nonce}
}

func TestCardDefaults(t *testing.T) {
	w := newWorld(t)
	me := w.app()
	for _, list := range []object{
		me.got(http.StatusOK, "GET", "/cards", nil),
		w.reference().got(http.StatusOK, "GET", "/api/v1/accounts/cards", nil),
	} {
		assert.Equal(t, object{"cards": []any{}, "total": 0.0, "created": false, "kycStatus": "not_started",
			"phoneVerified": false}, list)
	}
	issued := me.got(http.StatusCreated, "POST", "/cards", object{})
	assert.Equal(t, false, issued.at("activated"))
	for _, usage := range [][]string{{"dailySpend"}, {"limit", "dailyUsage"}, {"limit", "monthlyUsage"},
		{"limit", "lifetimeUsage"}} {
		assert.InDelta(t, 0, issued.at(usage...), 0, usage)
	}
	assert.Equal(t, true, me.got(http.StatusOK, "GET", "/cards", nil).at("created"))
	assert.Equal(t, "requested", me.got(http.StatusOK, "POST", "/cards/kyc/link", nil).text("status"))
	assert.Equal(t, false, me.got(http.StatusOK, "GET", "/cards", nil).at("phoneVerified"), "not before it is approved")
	w.host.Advance(time.Minute)
	assert.Equal(t, "approved", me.got(http.StatusOK, "GET", "/cards", nil).text("kycStatus"))
	assert.Equal(t, true, me.got(http.StatusOK, "POST", "/cards/pre-approve", object{"amount": "100"}).at("approved"))
}

func TestACardIsFrozenLabelledAndLimited(t *testing.T) {
	me := newWorld(t).app()
	path := "/cards/" + me.activeCard()
	assert.Equal(t, "frozen", me.got(http.StatusOK, "POST", path+"/freeze", nil).text("status"))
	assert.Equal(t, "active", me.got(http.StatusOK, "POST", path+"/unfreeze", nil).text("status"))
	assert.Equal(t, "Travel", me.got(http.StatusOK, "PUT", path+"/label", object{"label": "Travel"}).text("label"))
	limited := me.got(http.StatusOK, "PUT", path+"/limit", object{"dailyLimit": 12.5, "monthlyLimit": nil})
	assert.InDelta(t, 12.5, limited.at("limit", "dailyLimit"), 0)
	assert.InDelta(t, 10_000, limited.at("limit", "monthlyLimit"), 0, "what is absent stays")
	assert.Equal(t, map[string]string{"dailyLimit": "less_than_equal"},
		me.call("PUT", path+"/limit", object{"dailyLimit": 10_001}).fields())
	assert.Equal(t, limited, me.got(http.StatusOK, "GET", path, nil))
	refused(t, http.StatusNotFound, "not_found", me.call("GET", "/cards/card_of_nobody", nil))
}

// Only the value virtual is shown.
func TestTheFormatOfACardIsOpen(t *testing.T) {
	me := newWorld(t).app()
	for _, format := range []string{"virtual", "physical", "Metal, engraved", ""} {
		assert.Equal(t, "pending", me.got(http.StatusCreated, "POST", "/cards", object{"format": format}).
			text("status"), format)
	}
	assert.Equal(t, map[string]string{"format": "string_type"}, me.call("POST", "/cards", object{"format": 1}).fields())
}

func TestACardShowsItsNumberToItsWallet(t *testing.T) {
	w := newWorld(t)
	me, reference, key := w.app(), w.reference(), w.host.Credentials().Wallet
	id := me.activeCard()
	assert.Equal(t, key.Address(), me.got(http.StatusOK, "GET", "/cards/"+id, nil).text("walletAddress"))
	now := w.host.Now().Unix()
	shown := me.got(http.StatusOK, "POST", "/cards/"+id+"/details", proof(t, key, id, now))
	assert.Regexp(t, `^\d{16}$`, shown.text("cardNumber"))
	assert.Regexp(t, `^\d{3}$`, shown.text("cvv"))
	assert.Equal(t, shown, reference.got(http.StatusOK, "POST", "/api/v1/accounts/cards/"+id+"/details",
		proof(t, key, id, now+1)))

	refused(t, http.StatusConflict, "conflict", reference.call("POST", "/api/v1/accounts/cards/"+id+"/details",
		proof(t, key, id, now)))
	stranger, err := wallet.Generate()
	require.NoError(t, err)
	refused(t, http.StatusBadRequest, "signature_invalid",
		me.call("POST", "/cards/"+id+"/details", proof(t, stranger, id, now+2)))
	stale := proof(t, key, id, now-301-60)
	assert.Equal(t, map[string]string{"nonce": "nonce_expired"}, me.call("POST", "/cards/"+id+"/details", stale).
		fields())
	got := reference.call("POST", "/api/v1/accounts/cards/"+id+"/details", stale)
	assert.Equal(t, http.StatusUnprocessableEntity, got.status)
	assert.Equal(t, map[string]string{"body.nonce": "nonce_expired"}, got.details())
}

func TestANonceIsValidForFiveMinutes(t *testing.T) {
	w := newWorld(t)
	me, key := w.app(), w.host.Credentials().Wallet
	id := me.activeCard()
	reveal := func(nonce int64) reply { return me.call("POST", "/cards/"+id+"/details", proof(t, key, id, nonce)) }
	now := w.host.Now().Unix()
	for _, off := range []int64{-301, 301} {
		assert.Equal(t, map[string]string{"nonce": "nonce_expired"}, reveal(now+off).fields(), off)
	}
	for _, off := range []int64{-300, -299, 299, 300} {
		assert.Equal(t, http.StatusOK, reveal(now+off).status, off)
	}
	w.host.Advance(time.Millisecond)
	assert.Equal(t, map[string]string{"nonce": "nonce_expired"}, reveal(now-300).fields(), "five minutes and a moment")
	refused(t, http.StatusConflict, "conflict", reveal(now-299))
	assert.Equal(t, map[string]string{"nonce": "nonce_expired"}, reveal(now+301).fields(),
		"five minutes but for a moment")
	w.host.Advance(time.Second - time.Millisecond)
	assert.Equal(t, http.StatusOK, reveal(now+301).status)
}

func TestProductsOnSaleAreListedByDefault(t *testing.T) {
	reference := newWorld(t).reference()
	count := func(query string) int {
		got := reference.call("GET", "/api/v1/transactions/merchant/products"+query, nil)
		require.Equal(t, http.StatusOK, got.status)
		var products []object
		require.NoError(t, json.Unmarshal(got.raw, &products))
		return len(products)
	}
	assert.Equal(t, count("?active_only=true"), count(""))
	assert.Greater(t, count("?active_only=false"), count(""))
}
