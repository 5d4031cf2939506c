package public_test

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
)

const baseURL = "https://service.example"

// newClient is a client whose requests are answered by respond.
func newClient(t *testing.T, respond httpmock.Responder, options ...moneymovement.Option) *public.Client {
	t.Helper()
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(respond)
	client, err := public.New(baseURL,
		append([]moneymovement.Option{moneymovement.WithHTTPClient(&http.Client{Transport: mock})}, options...)...)
	require.NoError(t, err)
	return client
}

func answer(status int, contentType, body string) *http.Response {
	a := httpmock.NewStringResponse(status, body)
	a.Header.Set("Content-Type", contentType)
	a.Header.Set("X-Request-ID", "req_1")
	return a
}

// assertBare checks that a request says where it wants to go, and nothing about who asks.
func assertBare(t *testing.T, r *http.Request, uri string) {
	t.Helper()
	assert.Equal(t, "GET", r.Method)
	assert.Equal(t, baseURL+uri, r.URL.String())
	assert.Nil(t, r.Body)
	header := r.Header.Clone()
	assert.Empty(t, header.Get("User-Agent"), "empty, which net/http does not send")
	header.Del("User-Agent")
	assert.Equal(t, http.Header{"Accept": {"application/json"}}, header)
}

func TestRatesAreExact(t *testing.T) {
	var sent *http.Request
	client := newClient(t, func(r *http.Request) (*http.Response, error) {
		sent = r
		return answer(http.StatusOK, "application/json",
			`{"usdRate":"1.0842000000000000000001","bankTransfer":"0.30000000000000000004","currency":"EUR"}`), nil
	})
	rate, err := client.Rates.Get(t.Context(), "EUR")
	require.NoError(t, err)
	assertBare(t, sent, "/utils/rates/EUR")
	assert.Equal(t, "1.0842000000000000000001", rate.USDRate.String())
	assert.Equal(t, "0.30000000000000000004", rate.BankTransfer.String())
	assert.True(t, rate.Card.IsZero(), "what is not given is zero")
}

func TestAnInvoiceIsReadByItsPublicID(t *testing.T) {
	var sent *http.Request
	client := newClient(t, func(r *http.Request) (*http.Response, error) {
		sent = r
		return answer(http.StatusOK, "application/json",
			`{"id":"i1","amount":"99.90","currency":"GRAM","status":"client_paid","createdAt":"2026-01-02T03:04:05Z",
			"updatedAt":"2026-01-02T03:04:05Z","dueDate":"2026-02-01","invoiceLink":"https://service.example/i/abc","items":[{"name":"Tea","quantity":3,"price":"33.30"}],
			"paymentMethods":[{"accountType":"pix","pixKey":"k"}]}`), nil
	})
	invoice, err := client.Invoices.Get(t.Context(), "abc.DEF-7")
	require.NoError(t, err)
	assertBare(t, sent, "/public/invoices/abc.DEF-7")
	assert.Equal(t, "99.9", invoice.Amount.String())
	assert.Equal(t, model.InvoiceCurrencyGRAM, invoice.Currency)
	assert.Equal(t, model.InvoiceStatusClientPaid, invoice.Status)
	assert.Equal(t, "2026-02-01", invoice.DueDate.String())
	assert.Equal(t, "3", invoice.Items[0].Quantity.String())
	assert.Equal(t, "33.3", invoice.Items[0].Price.String())
	method := invoice.PaymentMethods[0].Variant().(model.PIXPaymentMethod)
	assert.Equal(t, "k", method.PIXKey)
}

func TestBadInputIsRefusedBeforeAnythingIsSent(t *testing.T) {
	client := newClient(t, func(*http.Request) (*http.Response, error) {
		t.Error("something was sent")
		return answer(http.StatusOK, "application/json", `{}`), nil
	})
	_, noCurrency := client.Rates.Get(t.Context(), "")
	_, path := client.Rates.Get(t.Context(), "../public/invoices/1")
	_, dots := client.Invoices.Get(t.Context(), "..")
	_, breaks := client.Invoices.PDF(t.Context(), "a\nb", public.RenderInvoicePDFParams{})
	for name, test := range map[string]struct {
		err         error
		field, code string
	}{
		"no currency": {noCurrency, "currency", "missing"},
		"a path":      {path, "currency", "pattern"},
		"dots":        {dots, "invoice_id", "pattern"},
		"a break":     {breaks, "id", "pattern"},
	} {
		var invalid *errors.InvalidInput
		require.ErrorAs(t, test.err, &invalid, name)
		require.Len(t, invalid.Fields, 1, name)
		assert.Equal(t, test.field, invalid.Fields[0].Field, name)
		assert.Equal(t, test.code, invalid.Fields[0].Code, name)
	}
	_, err := public.New("service.example")
	var invalid *errors.InvalidInput
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "baseURL", invalid.Fields[0].Field)
}

// What nobody stated is for the service to judge.
func TestWhatIsAssumedIsSent(t *testing.T) {
	sent := ""
	client := newClient(t, func(r *http.Request) (*http.Response, error) {
		sent = r.URL.RequestURI()
		return answer(http.StatusNotFound, "application/json", `{"error":{"code":"not_found","message":"m"}}`), nil
	})
	_, spaces := client.Invoices.PDF(t.Context(), "a b=", public.RenderInvoicePDFParams{Details: new(-1)})
	assert.True(t, is[*errors.NotFound](spaces), "%v", spaces)
	assert.Equal(t, "/public/invoices/a%20b=/pdf?details=-1", sent)
	_, rate := client.Rates.Get(t.Context(), "a currency of any name")
	assert.True(t, is[*errors.NotFound](rate), "%v", rate)
	assert.Equal(t, "/utils/rates/a%20currency%20of%20any%20name", sent)
}

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		status      int
		contentType string
		body        string
		is          func(error) bool
	}{
		"no such currency": {404, "application/json", `{"error":{"code":"not_found","message":"m"}}`,
			is[*errors.NotFound]},
		"a failed check": {422, "application/json", `{"detail":[{"loc":["path","currency"],"msg":"m","type":"t"}]}`,
			is[*errors.DetailErrors]},
		"a page":          {200, "text/html", `<html>`, is[*errors.UnexpectedResponse]},
		"a rate of words": {200, "application/json", `{"usdRate":"dear"}`, is[*errors.UnexpectedResponse]},
		"a rate too long": {200, "application/json", `{"usdRate":"1e999999999"}`, is[*errors.UnexpectedResponse]},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, func(*http.Request) (*http.Response, error) {
				return answer(test.status, test.contentType, test.body), nil
			})
			_, err := client.Rates.Get(t.Context(), "EUR")
			assert.True(t, test.is(err), "%T %v", err, err)
		})
	}
}

func is[E error](err error) bool { _, ok := errors.AsType[E](err); return ok }

// TestNothingIdentifiesTheCaller: also on the wire of the standard client, with a jar full of cookies, and after a
// cookie came.
func TestNothingIdentifiesTheCaller(t *testing.T) {
	var headers []http.Header
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		headers = append(headers, r.Header)
		http.SetCookie(w, &http.Cookie{Name: "visitor", Value: "7"})
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"usdRate":"1"}`)
	})
	other := &http.Transport{}
	t.Cleanup(other.CloseIdleConnections)
	for _, test := range []struct {
		options []moneymovement.Option
		want    []string
	}{
		{nil, []string{"Accept"}},
		{[]moneymovement.Option{moneymovement.WithUserAgent("shop/1")}, []string{"Accept", "User-Agent"}},
		{[]moneymovement.Option{moneymovement.WithHTTPClient(&http.Client{Jar: newJar(t, server)})},
			[]string{"Accept"}},
		{[]moneymovement.Option{moneymovement.WithHTTPClient(&http.Client{Transport: other})},
			[]string{"Accept", "Accept-Encoding"}}, // which net/http adds
	} {
		client, err := public.New(server, test.options...)
		require.NoError(t, err)
		for range 2 {
			_, err = client.Rates.Get(t.Context(), "EUR")
			require.NoError(t, err)
			assert.ElementsMatch(t, test.want, slices.Collect(maps.Keys(headers[len(headers)-1])))
		}
	}
}
