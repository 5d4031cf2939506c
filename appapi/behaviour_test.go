package appapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
)

// TestCreatesWithoutAKeyAreNotRetried: a response that is lost is an outcome in doubt, after one request.
func TestCreatesWithoutAKeyAreNotRetried(t *testing.T) {
	creates := []string{
		"CreateInvoice", "CreateUploadedInvoice", "CreateInvoiceFromContract", "CreateInvoiceBatch", "CreateContract",
		"UploadDocument", "CreateCard", "PreApproveCard", "SubmitBankPayinQuote",
	}
	for _, name := range creates {
		t.Run(name, func(t *testing.T) {
			x, known := exchanges()[name]
			require.True(t, known)
			for cause, respond := range map[string]http.HandlerFunc{
				"lost":           losing,
				"a server error": responding(503, `{"error":{"code":"provider_unavailable","message":"down"}}`),
				"half":           responding(201, `{"id":`),
			} {
				server, app := serve(t, respond)
				_, err := x.call(t.Context(), app)
				require.Error(t, err)
				failure, is := errors.AsType[errors.Failure](err)
				require.True(t, is, "%s: %v", cause, err)
				assert.False(t, failure.Retryable(), "%s: %v", cause, err)
				assert.Len(t, server.requests(), 1, cause)
			}
		})
	}
}

// TestATransferIsSentAgainWithItsKey: the key anchors it.
func TestATransferIsSentAgainWithItsKey(t *testing.T) {
	lost := 2
	server, app := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if lost--; lost >= 0 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Idempotency-Replayed", "true")
		_, _ = io.WriteString(w, `{"txHash":"0xabc"}`)
	})
	var response moneymovement.Response
	rent := appapi.ToContact{ContactID: id1, Amount: price("12.340")}
	receipt, err := app.Transfers.Send(t.Context(), rent, "rent-1", moneymovement.CaptureResponse(&response))
	require.NoError(t, err)
	assert.Equal(t, "0xabc", receipt.TxHash)
	assert.True(t, response.Replayed)
	assert.Equal(t, "rent-1", response.IdempotencyKey)
	sent := server.requests()
	require.Len(t, sent, 3)
	for _, request := range sent {
		assert.Equal(t, "rent-1", request.header.Get("Idempotency-Key"))
		assert.Contains(t, request.body, `"amount":12.34,`, "a number, without quotes")
	}
}

// TestATransferUnderAUsedKeyIsNotSent: what it pays is compared by value, and the same mistake is the service's own
// error.
func TestATransferUnderAUsedKeyIsNotSent(t *testing.T) {
	server, app := serve(t, responding(200, `{"txHash":"0xabc"}`))
	rent := appapi.ToContact{ContactID: id1, Amount: price("12.5"), Memo: "1.50"}
	receipt, err := app.Transfers.Send(t.Context(), rent, "rent-1")
	require.NoError(t, err)
	same := appapi.ToContact{ContactID: strings.ToUpper(id1), Amount: price("12.500"), Memo: "1.50"}
	again, err := app.Transfers.Send(t.Context(), same, "rent-1")
	require.NoError(t, err)
	assert.Equal(t, receipt, again)
	require.Len(t, server.requests(), 1, "this client has paid it")

	for name, other := range map[string]appapi.Destination{
		"amount":   appapi.ToContact{ContactID: id1, Amount: price("12.51"), Memo: "1.50"},
		"contact":  appapi.ToContact{ContactID: id2, Amount: price("12.5"), Memo: "1.50"},
		"memo":     appapi.ToContact{ContactID: id1, Amount: price("12.5"), Memo: "1.5"},
		"a quote":  appapi.ToQuote{QuoteID: "q_1"},
		"an order": appapi.ToInvoice{InvoiceID: id1},
	} {
		_, err = app.Transfers.Send(t.Context(), other, "rent-1")
		reused, is := errors.AsType[*errors.IdempotencyKeyReused](err)
		require.True(t, is, "%s: %v", name, err)
		assert.Zero(t, reused.Status)
		assert.Equal(t, "rent-1", reused.IdempotencyKey)
		assert.Equal(t, errors.NotMoved, reused.MovedByCall())
	}
	assert.Len(t, server.requests(), 1)
}

func TestALostTransferSaysHowToResolveIt(t *testing.T) {
	_, app := serve(t, losing)
	_, err := app.Transfers.Send(t.Context(), appapi.ToQuote{QuoteID: "q_1"}, "rent-1")
	unknown, is := errors.AsType[*errors.InDoubt](err)
	require.True(t, is, "%v", err)
	assert.Equal(t, "rent-1", unknown.IdempotencyKey)
	assert.Equal(t, 3, unknown.Attempts)
}

func TestFailedSearchReturnsNoTransfer(t *testing.T) {
	_, app := serve(t, responding(403, `{"error":{"code":"forbidden","message":"no"}}`))
	transfer, found, err := app.Transfers.ByKey(t.Context(), "rent-1")
	assert.True(t, errors.HasCode(err, errors.CodeForbidden), "%v", err)
	assert.False(t, found)
	assert.Nil(t, transfer)
	_, found, err = app.Transfers.ByKey(t.Context(), "no key")
	require.Error(t, err)
	assert.False(t, found)
}

func TestATransferIsFoundByItsKey(t *testing.T) {
	at := `"createdAt":"2026-01-02T03:04:05Z"`
	for name, c := range map[string]struct {
		items  string
		found  bool
		unread bool
	}{
		"there":               {`{"id":"tr_1","idempotencyKey":"rent-1",` + at + `}`, true, false},
		"without an echo":     {`{"id":"tr_1",` + at + `}`, true, false},
		"one of some":         {`{"id":"tr_0",` + at + `},{"id":"tr_1",` + at + `}`, false, true},
		"one that is read":    {`{"id":"tr_1",` + at + `},"tr_0"`, false, true},
		"read, with an echo":  {`null,{"id":"tr_1","idempotencyKey":"rent-1",` + at + `}`, true, false},
		"not read":            {`null`, false, true},
		"one with bad fields": {`{"id":"tr_1","amount":{},` + at + `}`, true, false},
		"among others": {`{"id":"tr_0","idempotencyKey":"rent-0",` + at +
			`},{"id":"tr_1","idempotencyKey":"rent-1",` + at + `}`, true, false},
		"only others":           {`{"id":"tr_0","idempotencyKey":"rent-0",` + at + `}`, false, true},
		"nothing at all":        {``, false, false},
		"the filter's response": {`{"id":"tr_1","idempotencyKey":"rent-1","amount":0.30,` + at + `}`, true, false},
	} {
		server, app := serve(t, responding(200, `{"items":[`+c.items+`]}`))
		transfer, found, err := app.Transfers.ByKey(t.Context(), "rent-1")
		assert.Equal(t, c.found, found, name)
		if c.unread { // which may be the one
			_, unexpected := errors.AsType[*errors.UnexpectedResponse](err)
			assert.True(t, unexpected, "%s: %v", name, err)
			continue
		}
		require.NoError(t, err, name)
		if found {
			assert.Equal(t, "tr_1", transfer.ID, name)
		}
		assert.Equal(t, "GET /apps/transfers?idempotency_key=rent-1", server.requests()[0].what)
	}
}

// TestDefaultsThatTheDescriptionStates hold when the field is absent, and when it is null.
func TestDefaultsThatTheDescriptionStates(t *testing.T) {
	for _, body := range []string{`{"cards":[{"limit":{}}]}`,
		`{"cards":[{"limit":{}}],"created":null,"kycStatus":null,"phoneVerified":null,"total":null}`} {
		_, app := serve(t, responding(200, body))
		list, err := app.Cards.List(t.Context())
		require.NoError(t, err)
		assert.Equal(t, model.KYCStatusNotStarted, list.KYCStatus)
		assert.False(t, list.Created || list.PhoneVerified || list.Cards[0].Activated)
		assert.Nil(t, list.Total)
		limit := list.Cards[0].Limit
		for _, usage := range []model.Number{limit.DailyUsage, limit.MonthlyUsage, limit.LifetimeUsage,
			list.Cards[0].DailySpend} {
			assert.True(t, usage.IsZero())
		}
	}
	_, app := serve(t, responding(200, contractJSON))
	contract, err := app.Contracts.Get(t.Context(), id1)
	require.NoError(t, err)
	assert.True(t, contract.Client.IsBusiness)
	assert.False(t, contract.Contractor.IsBusiness)
}

func TestACardsWalletSignsForItsDetails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock stands still
		now := time.Now().Unix()
		proofs := map[int64]string{}
		mock := roundTrip(func(r *http.Request) string {
			var proof model.CardDetailsProof
			if err := json.NewDecoder(r.Body).Decode(&proof); err != nil {
				return err.Error()
			}
			proofs[proof.Nonce] = proof.MessageSignature.Reveal()
			return `{"cardNumber":"4242424242424242","cvv":"123","expiryDate":"12/29"}`
		})
		app, err := appapi.New("https://service.example", appapi.NewAPIKey("k"),
			moneymovement.WithHTTPClient(&http.Client{Transport: mock}))
		require.NoError(t, err)
		signer := &paperWallet{address: "0x1"}
		for range 2 {
			details, err := app.Cards.Details(t.Context(), "card_1", signer)
			require.NoError(t, err)
			assert.Equal(t, "4242424242424242", details.CardNumber.Reveal())
			assert.Equal(t, "card details (redacted, ending 4242)", fmt.Sprintf("%v", details))
			assert.NotContains(t, fmt.Sprintf("%+v %#v %s", *details, details, details), "123")
		}

		_, err = app.Cards.Details(t.Context(), "card_1",
			model.WithCardMessage(signer, func(id string, nonce int64) string {
				return fmt.Sprintf("%d/%s", nonce, id)
			}))
		require.NoError(t, err)
		assert.Equal(t, map[int64]string{
			now:     fmt.Sprintf("0xsigned:Reveal card card_1 at %d", now),
			now - 1: fmt.Sprintf("0xsigned:Reveal card card_1 at %d", now-1), // for a nonce is used once
			now - 2: fmt.Sprintf("0xsigned:%d/card_1", now-2),
		}, proofs)
	})
}

// lateWallet asks a person first, who is in no hurry.
type lateWallet struct {
	paperWallet
	takes time.Duration
}

func (w *lateWallet) SignMessage(ctx context.Context, message []byte) (string, error) {
	time.Sleep(w.takes)
	return w.paperWallet.SignMessage(ctx, message)
}

// TestASignatureThatComesTooLateIsNotSent: the nonce counts, which the calls before may have pushed back, and not how
// long this wallet took.
func TestASignatureThatComesTooLateIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		mock := roundTrip(func(*http.Request) string {
			sent++
			return `{"cardNumber":"4242424242424242","cvv":"123","expiryDate":"12/29"}`
		})
		app, err := appapi.New("https://service.example", appapi.NewAPIKey("k"),
			moneymovement.WithHTTPClient(&http.Client{Transport: mock}))
		require.NoError(t, err)
		reveal := func(takes time.Duration) error {
			_, err := app.Cards.Details(t.Context(), "card_1", &lateWallet{paperWallet{address: "0x1"}, takes})
			return err
		}
		require.NoError(t, reveal(5*time.Minute-time.Second))
		require.Equal(t, 1, sent)
		refused, is := errors.AsType[*errors.InvalidInput](reveal(5 * time.Minute))
		require.True(t, is)
		assert.Equal(t, "nonce", refused.Fields[0].Field)
		assert.Equal(t, "stale", refused.Fields[0].Code)

		for range 60 { // each a second further back
			require.NoError(t, reveal(0))
		}
		assert.Error(t, reveal(4*time.Minute+30*time.Second))
		assert.Equal(t, 61, sent)
	})
}

type roundTrip func(*http.Request) string

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(f(r))), ContentLength: -1, Request: r}, nil
}

func TestWalletThatFailsToSign(t *testing.T) {
	server, app := serve(t, losing)
	refusal := errors.New("declined on the device")
	_, err := app.Cards.Details(t.Context(), "card_1", &paperWallet{address: "0x1", err: refusal})
	require.ErrorIs(t, err, refusal)
	notDelivered, is := errors.AsType[*errors.NotDelivered](err)
	require.True(t, is)
	assert.Equal(t, "RevealCardDetails", notDelivered.Operation)
	assert.Empty(t, server.requests())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = app.Account.App(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}
