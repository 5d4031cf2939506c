package sandbox_test

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
	"github.com/moneymovement/moneymovement-go/signing"
)

// restart returns a host on a store, at noon of the machine's clock.
func restart(kept sandbox.Store, options ...sandbox.Option) *sandbox.Host {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return sandbox.New(append([]sandbox.Option{
		sandbox.WithStore(kept), sandbox.WithClock(func() time.Time { return noon }),
	}, options...)...)
}

// secrets are the credentials as texts, which can be compared.
func secrets(t *testing.T, c sandbox.Credentials) []string {
	t.Helper()
	key, err := c.Key.PEM()
	require.NoError(t, err)
	cardWallet, err := c.Wallet.PEM()
	require.NoError(t, err)
	return []string{c.Email, c.KeyID, string(key), c.APIKey.Reveal(), c.AccessToken.Reveal(), string(cardWallet)}
}

func TestCredentialsAreRestoredFromStore(t *testing.T) {
	kept := new(storetest.Encoded)
	first := restart(kept)
	second := restart(kept)
	assert.Equal(t, secrets(t, first.Credentials()), secrets(t, second.Credentials()))
	assert.Len(t, second.Keys(), 1)
	assert.Len(t, second.AppKeys(), 1)
	second.Reset()
	assert.Equal(t, secrets(t, first.Credentials()), secrets(t, restart(kept).Credentials()))
	assert.Empty(t, kept.Stale())
}

func TestOptionsWinOverStoredCredentials(t *testing.T) {
	kept := new(storetest.Encoded)
	before := restart(kept).Credentials()
	key, err := signing.Generate()
	require.NoError(t, err)
	given := []sandbox.Option{sandbox.WithDeveloperKey(key), sandbox.WithAPIKey("a-key-of-the-test")}
	first := restart(kept, given...)
	assert.Equal(t, before.Email, first.Credentials().Email)
	assert.Equal(t, key, first.Credentials().Key)
	assert.Equal(t, "a-key-of-the-test", first.Credentials().APIKey.Reveal())
	assert.Equal(t, before.AccessToken.Reveal(), first.Credentials().AccessToken.Reveal())
	assert.Len(t, first.Keys(), 2, "what was registered before stays")

	again := restart(kept, given...)
	assert.Equal(t, secrets(t, first.Credentials()), secrets(t, again.Credentials()))
	assert.Len(t, again.Keys(), 2)
	assert.Len(t, again.AppKeys(), 2)
	without := restart(kept)
	assert.Equal(t, secrets(t, first.Credentials()), secrets(t, without.Credentials()), "they are kept from then on")

	other := restart(kept, sandbox.WithEmail(" Other@example.com"), sandbox.WithAPIKey("a-key-of-the-test"))
	assert.Equal(t, "other@example.com", other.Credentials().Email)
	assert.NotEqual(t, first.Credentials().KeyID, other.Credentials().KeyID)
	assert.NotEqual(t, first.Credentials().AccessToken.Reveal(), other.Credentials().AccessToken.Reveal())
	for _, key := range other.AppKeys() {
		if key.Key.Reveal() == "a-key-of-the-test" {
			assert.Equal(t, "other@example.com", key.Email, "a text is one key at a time")
		}
	}
}

func TestDeletedKeyStaysDeletedAfterRestart(t *testing.T) {
	kept := new(storetest.Encoded)
	first := restart(kept)
	require.NoError(t, first.DeleteKey(first.Credentials().KeyID))
	second := restart(kept, sandbox.WithDeveloperKey(first.Credentials().Key))
	assert.Empty(t, second.Keys())
	second.Reset()
	assert.Equal(t, first.Credentials().KeyID, second.Keys()[0].ID)
}

func TestClockIsRestoredFromStore(t *testing.T) {
	kept := new(storetest.Encoded)
	first := restart(kept)
	first.Advance(time.Hour)
	moved := first.Advance(61 * time.Second)
	assert.Equal(t, moved, restart(kept).Now())
	assert.Equal(t, moved, restart(kept).Advance(-time.Hour))

	furthest := restart(kept).Advance(1<<63 - 1)
	assert.Equal(t, furthest, restart(kept).Now(), "as far as a clock goes")
	second := restart(kept)
	second.Reset()
	assert.Equal(t, moved.Add(-time.Hour-61*time.Second), restart(kept).Now())
}

func TestChangedSettingsAreRestoredFromStore(t *testing.T) {
	kept := new(storetest.Encoded)
	first := restart(kept, sandbox.WithInstantProgress())
	require.NoError(t, first.Configure(func(s *sandbox.Settings) {
		s.FailOneIn, s.RateLimits, s.RailsHidden = 3, true, []string{"sepa"}
	}))
	require.NoError(t, first.Configure(func(s *sandbox.Settings) { s.FailOneIn = 4 }))
	require.Error(t, first.Configure(func(s *sandbox.Settings) { s.FailOneIn = -1 }))

	second := restart(kept)
	want := sandbox.DefaultSettings()
	want.FailOneIn, want.RateLimits, want.RailsHidden = 4, true, []string{"sepa"}
	assert.Equal(t, want, second.Settings(), "and not what an option of the first start set")

	third := restart(kept, sandbox.WithSettings(func(s *sandbox.Settings) { s.RateLimits = false }))
	assert.False(t, third.Settings().RateLimits, "an option wins")
	assert.Equal(t, 4, third.Settings().FailOneIn)

	third.Reset()
	assert.Equal(t, sandbox.DefaultSettings(), restart(kept).Settings())
}

func TestSettingsInTheStoreThatAreInvalidAreRefused(t *testing.T) {
	kept := new(storetest.Encoded)
	require.NoError(t, restart(kept).Configure(func(s *sandbox.Settings) { s.FailOneIn = 3 }))
	defer func() {
		err, _ := recover().(error)
		assert.ErrorContains(t, err, "failOneIn must not be negative")
		assert.ErrorContains(t, err, "WithStore: the settings in the store")
	}()
	// As a version with other bounds could have written it.
	require.NoError(t, kept.Commit([]store.Change{store.Put("host.settings", "host",
		&struct{ Changed map[string]int }{map[string]int{"failOneIn": -3}})}))
	restart(kept)
}

// crashingStore is a store that takes a number of commits, and then none.
type crashingStore struct {
	storetest.Encoded
	left int
}

func (i *crashingStore) Commit(changes []store.Change) error {
	if i.left == 0 {
		return errors.New("the process has ended")
	}
	i.left--
	return i.Encoded.Commit(changes)
}

// After a crash at any commit of a reset, the host has its old state or its initial state.
func TestInterruptedResetIsRepeatedAtStart(t *testing.T) {
	ended := false
	for commits := 0; !ended; commits++ {
		kept := &crashingStore{left: -1}
		w := newWorld(t, sandbox.WithStore(kept))
		session := w.login()
		session.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"})
		session.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"},
			"Idempotency-Key", "fund")
		w.host.Advance(time.Hour)
		before := w.host.Records()
		kept.left = commits
		func() {
			defer func() { ended = recover() == nil }()
			w.host.Reset()
		}()
		kept.left = -1

		again := restart(kept)
		if commits == 0 {
			assert.Equal(t, before, again.Records())
			continue
		}
		fresh := restart(new(storetest.Encoded))
		assert.Equal(t, fresh.Records(), again.Records(), "after %d commits", commits)
		assert.Equal(t, fresh.Ledger(), again.Ledger(), "after %d commits", commits)
		assert.Equal(t, fresh.Now(), again.Now())
	}
}

// withEncodedStore makes a host keep its records as bytes, and fails the test if the host changed one without saying
// so. The store in memory would not notice.
func withEncodedStore(t testing.TB) sandbox.Option {
	t.Helper()
	kept := new(storetest.Encoded)
	t.Cleanup(func() { assert.Empty(t, kept.Stale()) })
	return sandbox.WithStore(kept)
}

// A second host on the same store returns what the first one returned, byte by byte, to the same callers.
func TestStoredRecordsSurviveRestart(t *testing.T) {
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
	invoice := me.expect(http.StatusCreated, "POST", invoices, newInvoice()).text("id")
	card := me.expect(http.StatusCreated, "POST", "/cards", object{}).text("id")
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
	assert.Equal(t, "WEB-0002", again.expect(http.StatusCreated, "POST", invoices, newInvoice()).text("invoiceNumber"))

	second.host.Reset()
	assert.NotContains(t, string(again.must(http.StatusOK, "GET", "/cards", nil).raw), card)
	assert.Equal(t, http.StatusUnauthorized, session.call("GET", "/transactions", nil).status, "its session has ended")
}

// fullStore is a store that can stop taking changes.
type fullStore struct {
	storetest.Encoded
	now atomic.Bool
}

func (f *fullStore) Commit(changes []store.Change) error {
	if f.now.Load() {
		return errors.New("no space left")
	}
	return f.Encoded.Commit(changes)
}

// If a commit fails, the request is refused with internal_error, the next commit includes the changes, and later
// requests work.
func TestStoreErrorIsInternalError(t *testing.T) {
	kept := new(fullStore)
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

// Each kind of record that callers can add is counted. At the limit each is refused in the same way.
func TestRecordsCountsEveryKind(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	w := p.world
	app, reference := w.app(), w.reference()
	app.fund(1)
	contact := app.wallet("base", "USDC")
	escrow := p.mustCreateEscrow("escrow-1", nil).body.text("id")
	waiting := w.challenge(w.email)
	for name, add := range map[string]func() reply{
		"client": func() reply { return p.as("").call("POST", "/clients", object{"email": "new@example.com"}) },
		"contact": func() reply {
			return p.call("POST", "/contacts",
				object{"crypto": object{"chain": "base", "token": "USDC", "address": "0x1"}})
		},
		"payout": func() reply { return p.book("one-more", "1") },
		"payin":  func() reply { return p.payin(object{"amount": "77"}) },
		"deposit": func() reply {
			return p.call("POST", "/sandbox/deposits", object{"amount": "1.5", "currency": "USDC"})
		},
		"escrow": func() reply { return p.escrow("escrow-2", nil) },
		"approval": func() reply {
			return p.call("POST", "/escrow/"+escrow+"/actions", object{"type": "approve"},
				"Idempotency-Key", "escrow-1")
		},
		"applicant": func() reply {
			return p.call("PUT", "/client/kyb", object{"applicant": object{"legalName": "Acme", "country": "DE"}})
		},
		"challenge and token": func() reply { return w.token(waiting, w.key) },
		"access token": func() reply {
			return w.call("POST", "/dapi/v1/auth/refresh", object{"refreshToken": p.refresh})
		},
		"app contact": func() reply {
			return app.call("POST", "/user/contact",
				object{"account": object{"walletAddress": "0x1", "chainId": "base", "currency": "USDC"}})
		},
		"transfer": func() reply {
			return app.call("POST", "/apps/transfer", object{"contactId": contact, "amount": 1})
		},
		"quote": func() reply {
			return app.call("POST", "/balance/payout/quote", object{"contactId": contact, "amount": "1"})
		},
		"document": func() reply { return app.call("POST", "/documents/upload", object{"base64": "AAAA"}) },
		"contract": func() reply { return app.call("POST", contracts, newContract()) },
		"card":     func() reply { return app.call("POST", "/cards", object{}) },
		"event": func() reply {
			return reference.call("POST", "/api/v1/webhook/bank-one",
				object{"eventType": "x", "eventPayload": object{}, "entityId": "1", "entityType": "x",
					"createdAt": "x"})
		},
		"developer key": func() reply {
			return w.call("POST", "/_host/keys", object{"email": w.email, "publicKey": newSigner(t).public(t)})
		},
		"app key": func() reply { return w.call("POST", "/_host/app-keys", object{}) },
		"fault": func() reply {
			return w.call("POST", "/_host/faults", object{"path": "/chains", "fault": object{"kind": "drop_before"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := w.host.Records()
			require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.MaxRecords = before }))
			full := add()
			assert.Equal(t, http.StatusConflict, full.status, "%s", full.raw)
			assert.Equal(t, "conflict", full.slug())
			assert.Contains(t, full.body.text("error", "message"), "maxRecords")
			assert.Equal(t, before, w.host.Records())

			require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.MaxRecords = sandbox.DefaultMaxRecords }))
			added := add()
			assert.Less(t, added.status, 300, "%s", added.raw)
			assert.Greater(t, w.host.Records(), before)
		})
	}
}

func TestRecordLimitStillAllowsReadsAndDeletes(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	w := p.world
	require.Equal(t, http.StatusOK, w.call("PUT", "/_host/settings", object{"maxRecords": 1}).status)
	refused(t, http.StatusConflict, "conflict",
		p.call("POST", "/payouts", object{"contactId": p.contact, "amount": "1", "currency": "USDC"}))
	refused(t, http.StatusUnauthorized, "unauthenticated", w.call("POST", "/dapi/v1/payouts", object{}))
	p.must(http.StatusOK, "GET", "/transactions", nil)
	p.must(http.StatusNoContent, "DELETE", "/contacts/"+p.contact, nil)
	assert.Equal(t, "invalid_request", w.call("PUT", "/_host/settings", object{"maxRecords": 0}).slug())
	require.Equal(t, http.StatusOK, w.call("PUT", "/_host/settings", object{"maxRecords": 10_000}).status)
	p.walletContact()
	w.host.Reset()
	assert.Less(t, w.host.Records(), 10)
}
