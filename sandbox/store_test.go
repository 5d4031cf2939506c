package sandbox_test

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
)

// encoded makes a host keep its records as bytes, and fails the test if the host changed one without saying so. The
// store in memory would not notice.
func encoded(t testing.TB) sandbox.Option {
	t.Helper()
	kept := new(storetest.Encoded)
	t.Cleanup(func() { assert.Empty(t, kept.Stale()) })
	return sandbox.WithStore(kept)
}

// A second host on the same store answers what the first one answered, byte by byte, to the same callers.
func TestWhatIsKeptOutlivesTheHost(t *testing.T) {
	kept := new(storetest.Encoded)
	first := newWorld(t, sandbox.WithStore(kept))
	me, session := first.app(), first.login()
	me.wallet("base", "USDC")
	me.must(http.StatusOK, "PUT", "/user/kyc", object{"firstName": "Ada", "lastName": "Lovelace", "address": object{
		"streetAddress": "1 High St", "city": "Leeds", "country": "GB", "zip": "LS1",
	}})
	me.must(http.StatusCreated, "POST", "/documents/contracts", object{
		"contractorEmail": "ada@example.com", "type": "service", "activationAt": "2026-05-01T00:00:00+02:00",
		"fields": object{"amount": "100.00", "currency": "EUR"},
	})
	invoice := me.got(http.StatusCreated, "POST", invoices, newInvoice()).text("id")
	card := me.got(http.StatusCreated, "POST", "/cards", object{}).text("id")
	me.must(http.StatusOK, "POST", "/cards/pre-approve", object{"amount": "10", "currency": "USDC"})
	session.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"},
		"Idempotency-Key", "fund")
	booked := session.must(http.StatusCreated, "POST", "/payouts", object{
		"contactId": session.walletContact(), "amount": "12.5", "currency": "USDC",
	}, "Idempotency-Key", "pay").body
	reads := []string{
		"/user", "/user/contacts", "/documents/contracts", invoices, invoices + "/" + invoice, "/cards",
		"/cards/" + card, "/apps/me",
	}
	answered := map[string]string{}
	for _, path := range reads {
		answered[path] = string(me.must(http.StatusOK, "GET", path, nil).raw)
	}
	platformReads := []string{"/transactions", "/payouts/" + booked.text("id"), "/sandbox/treasury"}
	for _, path := range platformReads {
		answered[path] = string(session.must(http.StatusOK, "GET", path, nil).raw)
	}
	books := first.host.Ledger()
	require.Empty(t, kept.Stale())

	second := newWorld(t, sandbox.WithStore(kept))
	again := bearer{second, me.token}
	for _, path := range reads {
		assert.Equal(t, answered[path], string(again.must(http.StatusOK, "GET", path, nil).raw), path)
	}
	session.world = second
	for _, path := range platformReads {
		assert.Equal(t, answered[path], string(session.must(http.StatusOK, "GET", path, nil).raw), path)
	}
	assert.Len(t, second.host.Ledger().Entries, len(books.Entries))
	confirmed := session.must(http.StatusOK, "POST", "/payouts/"+booked.text("id")+"/confirm", object{
		"approvalId": booked.text("approval", "id"), "publicKey": session.key.public(t),
		"signature": session.key.sign(t, bytesOf(t, booked.text("approval", "payload"))),
	}).body
	assert.Equal(t, "funding", confirmed.text("status"), "an approval of the first host is good")
	assert.Equal(t, "WEB-0002", again.got(http.StatusCreated, "POST", invoices, newInvoice()).text("invoiceNumber"))

	second.host.Reset()
	assert.NotContains(t, string(again.must(http.StatusOK, "GET", "/cards", nil).raw), card)
	assert.Equal(t, http.StatusUnauthorized, session.call("GET", "/transactions", nil).status, "its session has ended")
}

// full is a store that can stop taking changes.
type full struct {
	storetest.Encoded
	now atomic.Bool
}

func (f *full) Commit(changes []store.Change) error {
	if f.now.Load() {
		return errors.New("no space left")
	}
	return f.Encoded.Commit(changes)
}

// What could not be kept is not answered for, is handed to the store again, and holds nobody up.
func TestAStoreThatTakesNothingIsAnInternalError(t *testing.T) {
	kept := new(full)
	w := newWorld(t, sandbox.WithStore(kept))
	me := w.app()
	me.must(http.StatusOK, "GET", "/user", nil)
	kept.now.Store(true)
	refused(t, http.StatusInternalServerError, "internal_error", me.call("POST", "/cards", object{}))
	me.must(http.StatusOK, "GET", "/utils/rates/EUR", nil)
	kept.now.Store(false)
	me.must(http.StatusOK, "GET", "/cards", nil)
	assert.Equal(t, 1, kept.Len("card.card"))
}
