package public_test

import (
	"context"
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
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
)

// No error leaves the SDK that is not an errors.Failure.
func TestEveryErrorIsAFailureOfItsCall(t *testing.T) {
	const id = "0b1f7d3e-58a4-4c8e-9d55-3f1f0f0c9a11"
	for fault, m := range testkit.CommonFaults() {
		for operation, call := range map[string]func(context.Context, *public.Client) error{
			"GetRates": func(ctx context.Context, c *public.Client) error {
				_, err := c.Rates.Get(ctx, "EUR")
				return err
			},
			"GetInvoice": func(ctx context.Context, c *public.Client) error {
				_, err := c.Invoices.Get(ctx, id)
				return err
			},
			"GetPDF": func(ctx context.Context, c *public.Client) error {
				_, err := c.Invoices.PDF(ctx, id, public.RenderInvoicePDFParams{})
				return err
			},
		} {
			t.Run(fault+"/"+operation, func(t *testing.T) {
				m.CheckCall(t, func(t *testing.T, ctx context.Context, next *http.Client) error {
					client, err := public.New(baseURL, moneymovement.WithHTTPClient(next))
					require.NoError(t, err)
					err = call(ctx, client)
					require.Error(t, err, "a response that was not sent")
					return err
				})
			})
		}
	}
}

// What no constructor made, or a call without a context, is refused with the name of what is missing.
func TestNilContextAndZeroClientAreRefused(t *testing.T) {
	made := newClient(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was sent", r.URL)
		return nil, http.ErrHandlerTimeout
	})
	calls := testkit.Surface{
		Constructors: "public.New", Clients: []any{made}, ZeroClients: []any{new(public.Client)},
	}.Test(t)
	assert.Greater(t, calls, 10, "the walk found next to nothing")

	notMade := errors.Field{Field: "pdf", Code: "not_made", Message: "was not made by public.Invoices.PDF"}
	for _, pdf := range []*public.PDF{nil, new(public.PDF)} {
		n, err := pdf.Read(make([]byte, 1))
		assert.Zero(t, n)
		testkit.CheckRefused(t, err, notMade)
		_, err = pdf.Read(nil)
		testkit.CheckRefused(t, err, notMade)
		testkit.CheckRefused(t, pdf.Close(), notMade)
	}
}

func TestTheIDOfALink(t *testing.T) {
	for link, want := range map[string]string{
		"/public/invoices/abc":                                      "abc",
		"https://service.example/public/invoices/abc":               "abc",
		"https://service.example/base/public/invoices/abc/":         "abc",
		"https://service.example/public/invoices/abc/pdf?details=0": "abc",
		"https://other.example/i/abc#top":                           "abc",
		"https://service.example/i/a%20b":                           "a b",
		"abc":                                                       "abc",
	} {
		id, err := public.InvoiceID(link)
		require.NoError(t, err, link)
		assert.Equal(t, want, id, link)
	}
	for _, link := range []string{"", "https://service.example", "https://service.example/", "/public/invoices/", "%",
		"https://service.example/i/..", "/public/invoices/.", "/public/invoices/%zz"} {
		id, err := public.InvoiceID(link)
		assert.Empty(t, id)
		refused, ok := errors.AsType[*errors.InvalidInput](err)
		require.True(t, ok, "%s: %v", link, err)
		assert.Equal(t, "link", refused.Fields[0].Field)
	}
}

func TestTheLinkOfAPDF(t *testing.T) {
	client, err := public.New("https://service.example/base/")
	require.NoError(t, err)
	for want, details := range map[string]*int{
		"https://service.example/base/public/invoices/a%2Fb%20c/pdf":           nil,
		"https://service.example/base/public/invoices/a%2Fb%20c/pdf?details=2": new(2),
	} {
		link, err := client.InvoicePDFLink("a/b c", public.RenderInvoicePDFParams{Details: details})
		require.NoError(t, err)
		assert.Equal(t, want, link)
	}
	for _, id := range []string{"", ".", ".."} {
		_, err = client.InvoicePDFLink(id, public.RenderInvoicePDFParams{Details: new(-1)})
		refused, ok := errors.AsType[*errors.InvalidInput](err)
		require.True(t, ok, "%v", err)
		require.Len(t, refused.Fields, 2)
	}
	for _, nobody := range []*public.Client{nil, new(public.Client)} {
		_, err = nobody.InvoicePDFLink("abc", public.RenderInvoicePDFParams{})
		testkit.CheckNoClient(t, err, "public.New")
	}
}

const baseURL = "https://service.example"

// newClient is a client whose requests go to respond.
func newClient(t *testing.T, respond httpmock.Responder, options ...moneymovement.Option) *public.Client {
	t.Helper()
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(respond)
	client, err := public.New(baseURL,
		append([]moneymovement.Option{moneymovement.WithHTTPClient(&http.Client{Transport: mock})}, options...)...)
	require.NoError(t, err)
	return client
}

func response(status int, contentType, body string) *http.Response {
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
		return response(http.StatusOK, "application/json",
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
		return response(http.StatusOK, "application/json",
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
		return response(http.StatusOK, "application/json", `{}`), nil
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
func TestAssumedRulesAreNotChecked(t *testing.T) {
	sent := ""
	client := newClient(t, func(r *http.Request) (*http.Response, error) {
		sent = r.URL.RequestURI()
		return response(http.StatusNotFound, "application/json", `{"error":{"code":"not_found","message":"m"}}`), nil
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
				return response(test.status, test.contentType, test.body), nil
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
