package sandbox_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// base64Of is base64 text of so many characters.
func base64Of(characters int) string {
	return base64.StdEncoding.EncodeToString(make([]byte, characters/4*3))
}

func TestSizesAtTheirBoundsAndBeyond(t *testing.T) {
	p := newPayer(t)
	payout := func(name string, value any) reply {
		return p.call("POST", "/payouts", object{"contactId": p.contact, "amount": "5", "currency": "USDC",
			name: value})
	}
	contact := func(name string, value any) reply {
		return p.call("POST", "/contacts", object{"crypto": object{"chain": "base", "token": "USDC", "address": "0x1"},
			name: value})
	}
	documents := func(count int) []string {
		list := make([]string, count)
		for i := range list {
			list[i] = fmt.Sprint("doc_", i)
		}
		return list
	}
	for _, c := range []struct {
		name, field, code string
		within, beyond    reply
	}{
		{"reference", "paymentReference", "string_too_long", // Rule: size.payment-reference
			payout("paymentReference", strings.Repeat("é", 140)), payout("paymentReference", strings.Repeat("é", 141))},
		{"purpose", "purpose", "string_too_long", // Rule: size.purpose
			payout("purpose", strings.Repeat("é", 64)), payout("purpose", strings.Repeat("é", 65))},
		{"documents", "documentIds", "too_long", // Rule: size.document-ids
			payout("documentIds", documents(10)), payout("documentIds", documents(11))},
		{"public key", "publicKey", "string_too_long", // Rule: size.payout-public-key
			payout("publicKey", base64Of(512)), payout("publicKey", base64Of(516))},
		{"signature", "signature", "string_too_long", // Rule: size.signature
			payout("signature", base64Of(2048)), payout("signature", base64Of(2052))},
		{"name", "name", "string_too_long", // Rule: size.contact-name
			contact("name", strings.Repeat("é", 200)), contact("name", strings.Repeat("é", 201))},
		{"short currency", "currency", "string_too_short", // Rule: size.contact-currency
			contact("currency", "EUR"), contact("currency", "EU")},
		{"long currency", "currency", "string_too_long", // Rule: size.contact-currency
			contact("currency", "USDC"), contact("currency", "USDCE")},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Less(t, c.within.status, 300, "%s", c.within.raw)
			refused(t, http.StatusUnprocessableEntity, "validation_failed", c.beyond)
			assert.Equal(t, map[string]string{c.field: c.code}, c.beyond.fields())
		})
	}
}

// Rule: size.signature
func TestSignaturesThatAreTooLong(t *testing.T) {
	p := newPayer(t)
	booked, deal := p.book("invoice-42", "20"), p.deal("deal-1", nil)
	for path, approval := range map[string]string{
		"/payouts/" + booked.body.text("id") + "/confirm":             booked.body.text("approval", "id"),
		"/escrow/" + deal.body.text("id") + "/actions/deal-1/confirm": deal.body.text("action", "approval", "id"),
	} {
		body := object{"approvalId": approval, "publicKey": p.key.public(t), "signature": base64Of(2048)}
		refused(t, http.StatusBadRequest, "signature_invalid", p.call("POST", path, body))
		body["signature"] = base64Of(2052)
		assert.Equal(t, map[string]string{"signature": "string_too_long"}, p.call("POST", path, body).fields())
	}
}

// Rule: size.contact-id
func TestContactIDsAtTheirBounds(t *testing.T) {
	me := newWorld(t).login()
	for id, status := range map[string]int{
		"ct_" + strings.Repeat("a", 216): http.StatusNotFound, strings.Repeat("a", 216): http.StatusNotFound,
		"ct_a.B:c-1_":                    http.StatusNotFound,
		"ct_" + strings.Repeat("a", 217): http.StatusBadRequest, strings.Repeat("a", 217): http.StatusBadRequest,
		"ct_a~b": http.StatusBadRequest,
	} {
		assert.Equal(t, status, me.call("GET", "/contacts/"+id+"/capabilities", nil).status, id)
	}
}

// Rule: size.escrow-duration
func TestEscrowDurations(t *testing.T) {
	p := newPayer(t)
	for i, duration := range []string{"90s", "60m", "1h", "14d", "0001h", "9999d", "0s", "0000d"} {
		for _, field := range []string{"approveWithin", "holdFor", "refundableFor"} {
			got := p.escrow(fmt.Sprint(field, "-", i), object{field: duration})
			assert.Equal(t, http.StatusCreated, got.status, "%s %s: %s", field, duration, got.raw)
		}
	}
	for _, duration := range []string{"10000s", "1w", "1.5h", "-1h", "h", "12", " 1h", "1H", "1h30m", ""} {
		for _, field := range []string{"approveWithin", "holdFor", "refundableFor"} {
			got := p.escrow("deal", object{field: duration})
			refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
			assert.Equal(t, map[string]string{field: "string_pattern_mismatch"}, got.fields(), "%q", duration)
		}
	}
}

// Rule: page.limit, page.next-cursor, page.cursor-size
func TestAPageHasFiftyEntriesByDefaultAndAHundredAtMost(t *testing.T) {
	p := newPayer(t)
	for i := range 109 { // besides the first deposit
		p.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"},
			"Idempotency-Key", fmt.Sprint("d-", i))
	}
	for query, want := range map[string][]int{"": {50, 50, 10}, "limit=100": {100, 10}, "limit=1": nil,
		"limit=55": {55, 55}} {
		var sizes []int
		for cursor := ""; ; {
			page := p.must(http.StatusOK, "GET", "/transactions?"+query+cursor, nil)
			sizes = append(sizes, len(page.body.at("items").([]any)))
			next := page.body.text("nextCursor")
			if next == "" {
				break
			}
			require.LessOrEqual(t, len(next), 512)
			cursor = "&cursor=" + next
		}
		if query == "limit=1" {
			assert.Len(t, sizes, 110)
			continue
		}
		assert.Equal(t, want, sizes, query)
	}
}
