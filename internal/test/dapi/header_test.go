package dapi_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// arrivals are the requests that reached a host over HTTP: the method and the path below /dapi/v1, and the value of the
// header traceparent.
type arrivals struct {
	mu  sync.Mutex
	all [][2]string
}

// served puts the host of a world on a port, and returns what arrives there.
func served(w *world) *arrivals {
	w.Helper()
	seen := new(arrivals)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		seen.mu.Lock()
		seen.all = append(seen.all, [2]string{r.Method + " " + strings.TrimPrefix(r.URL.Path, "/dapi/v1"),
			strings.Join(r.Header.Values("traceparent"), " and ")})
		seen.mu.Unlock()
		w.Host.ServeHTTP(out, r)
	}))
	w.Cleanup(server.Close)
	w.URL, w.Wire = server.URL, nil
	return seen
}

// take returns what has arrived since the last take, without the requests that serve other calls too.
func (a *arrivals) take() (own, shared [][2]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, arrived := range a.all {
		if strings.HasPrefix(arrived[0], "POST /auth/") || arrived[0] == "GET /chains" {
			shared = append(shared, arrived)
		} else {
			own = append(own, arrived)
		}
	}
	a.all = nil
	return own, shared
}

// Every request of a method has the header of its call, except a login and the list of chains, which other calls use
// too. The host gets it over HTTP.
func TestHeaderReachesTheHostInEveryRequest(t *testing.T) {
	w := newWorld(t)
	seen := served(w)
	account := w.account()
	asked := dapi.PayoutCreate{ContactID: w.Contact(account.Contacts, sepa()), Amount: amount("5"), Currency: dapi.USDC}
	id := "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	traced := moneymovement.Header("traceparent", id)
	reaches := func(least int, name string) {
		t.Helper()
		own, shared := seen.take()
		assert.GreaterOrEqual(t, len(own), least, "%s: %v", name, own)
		for _, arrived := range own {
			assert.Equal(t, id, arrived[1], "%s: %s", name, arrived[0])
		}
		for _, arrived := range shared {
			assert.Empty(t, arrived[1], "%s: %s", name, arrived[0])
		}
	}
	_, before := seen.take()
	assert.NotEmpty(t, before, "it logged in")

	process := func() *dapi.Account { // which logs in, in its first call
		return w.Integrator(w.Developer(), moneymovement.WithoutPacing(),
			moneymovement.WithRetries(moneymovement.RetryPolicy{WaitMin: time.Millisecond}),
			moneymovement.WithPolling(time.Millisecond, time.Millisecond)).Self()
	}
	account = process()
	w.Host.Arm("POST", confirmPath, sandbox.DropAfterCommit())
	w.Host.Arm("POST", confirmPath, sandbox.Respond(http.StatusBadGateway, "funding_failed"))
	paid, err := account.Payouts.Pay(t.Context(), asked, "invoice-1", dapi.PayTerms{}, traced)
	require.NoError(t, err)
	reaches(4, "Pay") // book, confirm twice or more, read
	_, err = account.Payouts.Wait(t.Context(), paid.Payout.ID, traced)
	require.NoError(t, err)
	reaches(1, "Wait")
	for result := range account.Payouts.WaitAll(t.Context(), []dapi.PayoutID{paid.Payout.ID}, traced) {
		require.NoError(t, result.Err)
	}
	reaches(1, "WaitAll")

	// the contact is gone, so another process looks for the payout in the ledger
	require.NoError(t, account.Contacts.Delete(t.Context(), asked.ContactID, traced))
	_, _ = process().Payouts.Pay(t.Context(), asked, "invoice-1", dapi.PayTerms{}, traced)
	reaches(4, "Pay that searches")

	opened, err := account.Escrows.Open(t.Context(), newEscrow(), "escrow-1", dapi.EscrowTerms{}, traced)
	require.NoError(t, err)
	released, err := account.Escrows.Act(t.Context(), newEscrow(), opened.Escrow.ID, dapi.EscrowActionTypeRelease,
		"release-1", dapi.EscrowTerms{}, traced)
	require.NoError(t, err)
	reaches(4, "Open and Act")
	_, err = account.Escrows.Wait(t.Context(), opened.Escrow.ID, []dapi.EscrowStatus{released.Escrow.Status}, traced)
	require.NoError(t, err)
	reaches(1, "Wait of an escrow")

	w.Credit(account.Sandbox, "7", dapi.USDC, traced)
	pages := 0
	for _, err := range account.Transactions.All(t.Context(), dapi.ListTransactionsParams{Limit: 1}, traced) {
		require.NoError(t, err)
		pages++
	}
	require.Greater(t, pages, 2)
	reaches(pages, "pages")
	for _, err := range account.Transactions.Follow(t.Context(), dapi.ChangesParams{}, traced) {
		require.NoError(t, err)
		break
	}
	reaches(1, "Follow")

	w.Host.Arm("POST", "/sandbox/payouts/*/status", sandbox.Respond(http.StatusOK, "").WithBody(`{}`))
	booked, err := account.Payouts.Book(t.Context(), dapi.PayoutCreate{ContactID: w.Contact(account.Contacts, wallet()),
		Amount: amount("1"), Currency: dapi.USDC}, moneymovement.IdempotencyKey("invoice-2"))
	require.NoError(t, err)
	seen.take()
	_, _ = account.Sandbox.SetPayoutStatus(t.Context(), booked.ID, dapi.PayoutStatusExpired, traced)
	reaches(1, "a write whose result is read")
	_, err = account.Payouts.Get(t.Context(), booked.ID)
	require.NoError(t, err)
	own, _ := seen.take()
	assert.Equal(t, [][2]string{{"GET /payouts/" + string(booked.ID), ""}}, own, "another call does not have it")
}

// A header that is refused ends a method before it sends or signs anything.
func TestRefusedHeaderSendsNothing(t *testing.T) {
	w := newWorld(t)
	seen := served(w)
	account := w.integrator().Self()
	asked := dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("5"), Currency: dapi.USDC}
	for _, option := range []moneymovement.HeaderOption{
		moneymovement.Header("Authorization", "Bearer other"), moneymovement.Header("traceparent", "a\r\nHost: b"),
		moneymovement.Header("Idempotency-Key", "other"), moneymovement.Header("X-Service-Account", "cl_other"),
	} {
		payment, err := account.Payouts.Pay(t.Context(), asked, "invoice-1", dapi.PayTerms{}, option)
		refused := as[*errors.InvalidInput](t, err)
		assert.Equal(t, errors.NotMoved, refused.MovedByCall())
		assert.Equal(t, moneymovement.PaymentNeedsDecision, payment.State)
		_, err = account.Payouts.Wait(t.Context(), "po_1", option)
		as[*errors.InvalidInput](t, err)
		_, err = account.Escrows.Open(t.Context(), newEscrow(), "escrow-1", dapi.EscrowTerms{}, option)
		as[*errors.InvalidInput](t, err)
		for _, err := range account.Transactions.Follow(t.Context(), dapi.ChangesParams{}, option) {
			as[*errors.InvalidInput](t, err)
		}
	}
	own, shared := seen.take()
	assert.Empty(t, own)
	assert.Empty(t, shared)
}

// Each record of an attempt names the key with which the call was made, also after a change of the key, and that of a
// login the key that logs in.
func TestLogNamesTheDeveloperKey(t *testing.T) {
	w := newWorld(t)
	var log bytes.Buffer
	integrator := w.Integrator(w.Developer(), moneymovement.WithoutPacing(), moneymovement.WithLogger(
		slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	second, err := signing.Generate()
	require.NoError(t, err)
	first := w.Host.Credentials().Key
	_, err = w.Host.RegisterKey(sandbox.KeyRegistration{
		Email: w.Host.Credentials().Email, PublicKey: second.PublicKey(),
	})
	require.NoError(t, err)
	for i, key := range []*signing.DeveloperKey{first, second} {
		if i == 1 {
			require.NoError(t, integrator.UseKey(second))
		}
		log.Reset()
		require.NoError(t, read(t.Context(), integrator.Self()))
		operations := map[string]bool{}
		for line := range strings.Lines(log.String()) {
			var record struct {
				Msg, Operation, KeyFingerprint string
			}
			require.NoError(t, json.Unmarshal([]byte(line), &record))
			if record.Msg != "moneymovement attempt" {
				continue
			}
			operations[record.Operation] = true
			assert.NotEmpty(t, record.KeyFingerprint, record.Operation)
			assert.True(t, strings.HasPrefix(key.Fingerprint(), record.KeyFingerprint), record.Operation)
		}
		assert.Subset(t, operations, map[string]bool{"CreateChallenge": true, "CreateToken": true})
		assert.Greater(t, len(operations), 2)
	}
}
