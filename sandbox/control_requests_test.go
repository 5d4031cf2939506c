package sandbox_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// The controls advise what the SDK's errors advise, which know the details of a refusal.
func TestTheAdviceOfTheControlsKnowsTheDetails(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	booked := p.book("too-much", "500")
	refused(t, http.StatusConflict, "payout_not_fundable", p.confirm(booked))
	refused(t, http.StatusNotFound, "not_found", p.call("GET", "/payouts/po_1", nil))
	want := map[string]string{
		"payout_not_fundable": "the balance is 100 USDC: credit the account, then repeat with the same idempotency key",
		"not_found": "client " + p.account +
			" has no po_1: check the id, and the account that the call acts for",
	}
	for _, entry := range p.world.call("GET", "/_host/requests", nil).items() {
		if advice, expected := want[entry.text("slug")]; expected {
			assert.Equal(t, advice, entry.text("do"))
			id := strconv.Itoa(int(entry.at("id").(float64)))
			one := p.world.call("GET", "/_host/requests/"+id, nil)
			require.Equal(t, http.StatusOK, one.status)
			assert.Equal(t, advice, one.body.text("do"))
			delete(want, entry.text("slug"))
		}
	}
	assert.Empty(t, want, "not met")
}

// A list is searched at the host, which has more requests than a page can show.
func TestRequestsAreFoundAtTheHost(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	booked := p.book("Invoice-42", "20")
	for range 450 {
		p.world.call("GET", "/utils/rates/EUR", nil)
	}
	paths := func(query string) (all []string) {
		for _, entry := range p.world.call("GET", "/_host/requests?"+query, nil).items() {
			all = append(all, entry.text("method")+" "+entry.text("path"))
		}
		return all
	}
	assert.Equal(t, []string{"POST /dapi/v1/payouts"}, paths("find=invoice-42"))
	assert.Equal(t, []string{"POST /dapi/v1/payouts"}, paths("find="+url.QueryEscape(booked.body.text("id"))), "in the response")
	assert.Equal(t, []string{"POST /dapi/v1/payouts"}, paths("kind=writes&last=1"))
	assert.Len(t, paths("find=RATES&last=400"), 400)
	id := booked.header.Get("X-Request-Id")
	require.NotEmpty(t, id)
	assert.Equal(t, []string{"POST /dapi/v1/payouts"}, paths("find="+id))
	assert.Empty(t, paths("find="+id[8:]), "a part of random letters is found by chance")
	assert.Contains(t, paths("find=acme@example.com"), "POST /dapi/v1/contacts", "the name of the account")
	assert.Equal(t, http.StatusUnprocessableEntity, p.world.call("GET", "/_host/requests?kind=x", nil).status)
}

// A list of payouts says what an operator looks for, and is searched by it.
func TestPayoutsAreFoundAtTheHost(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	contact := p.must(http.StatusCreated, "POST", "/contacts", object{"name": "Supplier Ltd",
		"account": object{"accountType": "sepa", "iban": "DE89370400440532013000"}}).body.text("id")
	made := p.must(http.StatusCreated, "POST", "/payouts", object{"contactId": contact, "amount": "20",
		"currency": "USDC", "paymentReference": "RF-7"}, "Idempotency-Key", "invoice-42").body
	for i := range 220 {
		p.book("other-"+strconv.Itoa(i), "1")
	}
	for _, find := range []string{"supplier", "rf-7", "invoice-42", made.text("id"), contact} {
		found := p.world.call("GET", "/_host/payouts?find="+find, nil).items()
		require.Len(t, found, 1, find)
		assert.Equal(t, made.text("id"), found[0].text("id"))
		assert.Equal(t, "Supplier Ltd", found[0].text("contact"))
		assert.Equal(t, made.text("quote", "destinationAmount"), found[0].text("arrives"))
		assert.Equal(t, "EUR", found[0].text("arrivesIn"))
		assert.Equal(t, "RF-7", found[0].text("reference"))
	}
}

// Each list finds what it shows of an entry: words as they are shown, in small and capital letters.
func TestEachListIsFoundAtTheHost(t *testing.T) {
	w, ids := busyWorld(t)
	acme, payin := ids["/_host/verifications/{id}"], ids["/_host/payins/{id}"]
	w.login().as("").readyClient("bolt@example.com")
	for _, c := range []struct {
		list string
		find []string
	}{
		{"accounts", []string{acme, "ACME@example"}},
		{"payins", []string{payin, "Awaiting funds", "acme@example.com", acme, "50 usdt", payin[:5]}},
		{"verifications", []string{acme, "under review", "Under_Review", "acme@example.com"}},
		{"escrows", []string{"acme@example.com", "0x52908400098527886e0f", "40 usdc", "deal-1"}},
		{"windows", []string{"sandbox money"}},
		{"faults", []string{"flt_1", "drop before", "/chains"}},
	} {
		for _, find := range c.find {
			found := w.call("GET", "/_host/"+c.list+"?"+url.Values{"find": {" " + find}}.Encode(), nil)
			assert.Len(t, found.items(), map[bool]int{true: 2, false: 1}[c.list == "windows"], "%s %s", c.list, find)
		}
		none := w.call("GET", "/_host/"+c.list+"?find=nowhere", nil)
		require.Equal(t, http.StatusOK, none.status)
		assert.Empty(t, none.items(), c.list)
		assert.NotContains(t, string(none.raw), "null", c.list)
	}
}

// A movement is found by any of its entries, with both of its sides.
func TestMovementsAreFoundAtTheHost(t *testing.T) {
	w, ids := busyWorld(t)
	payout := ids["/_host/payouts/{id}"]
	read := func(query string) (entries []object, total int) {
		got := w.call("GET", "/_host/ledger?"+query, nil)
		require.Equal(t, http.StatusOK, got.status, "%s", got.raw)
		assert.Equal(t, "0", got.body.text("sums", "USDC"), "of all entries")
		return reply{body: object{"items": got.body.at("entries")}}.items(), int(got.body.at("total").(float64))
	}
	for _, find := range []string{payout, "Payout Funding", "payout_funding", "clearing", "12.5 usdc"} {
		entries, total := read(url.Values{"find": {find}}.Encode())
		assert.Len(t, entries, 2, find)
		assert.Equal(t, 1, total, find)
	}
	entries, total := read("find=acme@example.com")
	assert.Len(t, entries, 4, "the deposit and the funding")
	assert.Equal(t, 2, total)
	assert.NotContains(t, string(w.call("GET", "/_host/ledger?find=nowhere", nil).raw), "null")
	latest, total := read("last=1")
	assert.Equal(t, payout, latest[0].text("resourceId"))
	assert.Len(t, latest, 2)
	assert.Equal(t, 4, total, "the fill, two deposits and the funding")
	day := entries[0].text("at")[:len("2026-01-01")]
	today, _ := read("find=" + day + "+" + entries[0].text("at")[len(day)+1:len(day)+6])
	assert.NotEmpty(t, today)
	assert.Equal(t, http.StatusUnprocessableEntity, w.call("GET", "/_host/ledger?last=x", nil).status)
}

// What -seed of the command does is marked in the lists, however long ago it was.
func TestWhatSeedDidIsMarked(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	p.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "7", "currency": "USDC"},
		"Idempotency-Key", "seed", "User-Agent", "moneymove-seed/0.1.0 moneymovement-go/0.1.0")
	for range 1100 { // the host keeps the headers of 1,000 requests
		p.world.call("GET", "/utils/rates/EUR", nil)
	}
	for _, entry := range p.world.call("GET", "/_host/requests?find=deposits", nil).items() {
		assert.Equal(t, entry.text("idempotencyKey") == "seed", entry.at("seeded") == true)
	}
	marked := 0
	for _, side := range p.world.call("GET", "/_host/ledger", nil).body.at("entries").([]any) {
		entry := object(side.(map[string]any))
		assert.Equal(t, strings.TrimPrefix(entry.text("amount"), "-") == "7", entry.at("seeded") == true, "%v", entry)
		if entry.at("seeded") == true {
			marked++
		}
	}
	assert.Equal(t, 2, marked)
}

// A test payout is made of the requests of a real one.
func TestATestPayoutIsSent(t *testing.T) {
	p := newPayer(t, sandbox.WithControl(), sandbox.WithInstantProgress())
	sent := p.world.call("POST", "/_host/payouts", object{"account": p.account, "amount": "12.5"})
	require.Equal(t, http.StatusCreated, sent.status, "%s", sent.raw)
	assert.Equal(t, "completed", p.must(http.StatusOK, "GET", "/payouts/"+sent.body.text("id"),
		nil).body.text("status"))
	assert.Equal(t, "87.5", p.balance())
	listed := p.world.call("GET", "/_host/requests?find="+sent.body.text("idempotencyKey"), nil).items()
	require.Len(t, listed, 2, "the booking and the confirmation")

	poor := p.world.call("POST", "/_host/payouts", object{"account": p.account, "amount": "500"})
	assert.Equal(t, "payout_not_fundable", poor.slug(), "%s", poor.raw)
	p.host.Arm("POST", "/payouts", sandbox.DropBefore())
	dropped := p.world.call("POST", "/_host/payouts", object{"account": p.account, "amount": "1"})
	assert.Equal(t, "conflict", dropped.slug(), "%s", dropped.raw)
}
