package dapi_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/surfacetest"
	"github.com/moneymovement/moneymovement-go/signing"
)

// A stated member that is missing costs nothing else. It is named, and a logger gets an error record; an assumed one is
// a warning, once.
func TestWhatWasNotReadIsNamedAndLogged(t *testing.T) {
	var log strings.Builder
	answer := `{"id":"po_1","status":"processing","contactId":"ct_1","amount":{"value":"25"},"currency":"USDC",` +
		`"createdAt":"soon","purpose":["x"]}`
	platform := answering(t, 200, answer, moneymovement.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	var kept moneymovement.Response
	for range 3 {
		payout, err := platform.Self().Payouts.Get(t.Context(), "po_1", moneymovement.CaptureResponse(&kept))
		require.NoError(t, err)
		assert.Equal(t, &dapi.Payout{ID: "po_1", Status: "processing", ContactID: "ct_1", Currency: dapi.USDC}, payout)
	}
	assert.ElementsMatch(t, []moneymovement.Unread{
		{Pointer: "/idempotencyKey", Stated: true, Problem: "is missing"},
		{Pointer: "/purpose", Stated: true, Problem: "is an array"},
		{Pointer: "/amount", Problem: "is an object"},
		{Pointer: "/createdAt", Problem: "is not a time"},
	}, kept.Unread)
	assert.Equal(t, 3, strings.Count(log.String(), "level=ERROR"))
	assert.Equal(t, 1, strings.Count(log.String(), "level=WARN"), "one warning for each assumption")
	assert.Contains(t, log.String(), "/createdAt is not a time")
	assert.NotContains(t, log.String(), "soon")
}

func TestOneEntryThatCannotBeReadCostsNoOther(t *testing.T) {
	var kept moneymovement.Response
	page, err := answering(t, 200,
		`{"items":[`+txJSON+`,"what",{"id":"tx_2","amount":{},"createdAt":"2026-01-02T03:04:05Z"},`+txJSON+`],`+
			`"nextCursor":"c"}`).
		Self().Transactions.List(t.Context(), dapi.ListTransactionsParams{}, moneymovement.CaptureResponse(&kept))
	require.NoError(t, err)
	require.Len(t, page.Items, 3)
	assert.Equal(t, dapi.TransactionID("tx_2"), page.Items[1].ID)
	assert.Equal(t, "c", page.NextCursor)
	assert.Equal(t, moneymovement.Unread{Pointer: "/items/1", Problem: "is a string"}, kept.Unread[0])
	for _, unread := range kept.Unread[1:] {
		assert.Contains(t, unread.Pointer, "/items/2/")
	}
}

// A page has at most 100 entries. Up to 1,000 are read, and a hostile page of millions costs nothing.
func TestPagesAreBounded(t *testing.T) {
	list := func(n int) (*dapi.TransactionPage, []moneymovement.Unread, error) {
		var kept moneymovement.Response
		page, err := answering(t, 200, `{"items":[`+strings.Repeat(txJSON+",", n-1)+txJSON+`]}`).Self().Transactions.
			List(t.Context(), dapi.ListTransactionsParams{Limit: 10}, moneymovement.CaptureResponse(&kept))
		return page, kept.Unread, err
	}
	page, unread, err := list(1000)
	require.NoError(t, err)
	assert.Len(t, page.Items, 1000)
	assert.Contains(t, unread, moneymovement.Unread{Pointer: "/items", Stated: true,
		Problem: "has 1000 entries, but 10 were asked for"})
	_, unread, err = list(10)
	require.NoError(t, err)
	assert.Empty(t, unread)
	_, _, err = list(1001)
	assert.ErrorContains(t, as[*errors.UnexpectedResponse](t, err).Err, "more than 1000 items")
}

// Money is not taken as moved because a success says nothing.
func TestASandboxWriteIsProven(t *testing.T) {
	for _, body := range []string{"", "null", "{}", `{"ok":true}`} {
		sandbox := answering(t, 200, body).Self().Sandbox
		for name, write := range map[string]func() (any, error){
			"Deposit": func() (any, error) {
				return sandbox.Deposit(t.Context(), dapi.DepositCreate{Amount: amount("1"), Currency: dapi.USDC})
			},
			"CompletePayin":   func() (any, error) { return sandbox.CompletePayin(t.Context(), "pi_1") },
			"SetPayoutStatus": func() (any, error) { return sandbox.SetPayoutStatus(t.Context(), "po_1", "completed") },
		} {
			got, err := write()
			_ = as[*errors.OutcomeUnknown](t, err)
			assert.Nil(t, got, "%s after %q", name, body)
		}
	}
}

// How long a challenge's id may be is not stated.
func TestALoginWithALongChallenge(t *testing.T) {
	id := strings.Repeat("c", 3000)
	var completed string
	service := surfacetest.Connection(func(r *http.Request) (*http.Response, error) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/auth/challenge"):
			return surfacetest.Page(http.StatusCreated, "application/json",
				`{"challengeId":"`+id+`","payload":"bG9naW4"}`)(r)
		case strings.HasSuffix(r.URL.Path, "/auth/token"):
			var body struct{ ChallengeID string }
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				return nil, err
			}
			completed = body.ChallengeID
			return surfacetest.Page(http.StatusCreated, "application/json", `{"accessToken":"a"}`)(r)
		}
		return surfacetest.Page(http.StatusOK, "application/json", `[]`)(r)
	})
	key, err := signing.Generate()
	require.NoError(t, err)
	integrator, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key},
		moneymovement.WithHTTPClient(&http.Client{Transport: service}))
	require.NoError(t, err)
	page, err := integrator.Self().Chains.List(t.Context(), dapi.ListChainsParams{})
	require.NoError(t, err)
	assert.Empty(t, page.Items)
	assert.Equal(t, id, completed)
}
