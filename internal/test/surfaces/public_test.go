package surfaces_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// once makes a client try once.
var once = moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1})

func TestHostPricesCurrencies(t *testing.T) {
	client := worlds.Serve(t).Public(once)
	euro, err := client.Rates.Get(t.Context(), "EUR")
	require.NoError(t, err)
	assert.True(t, euro.USDRate.GreaterThan(euro.BankTransfer) && euro.BankTransfer.GreaterThan(euro.Card) &&
		euro.Card.IsPositive(), "%+v", euro)
	dollar, err := client.Rates.Get(t.Context(), "USD")
	require.NoError(t, err)
	assert.True(t, dollar.USDRate.Equal(decimal.NewFromInt(1)))
	_, err = client.Rates.Get(t.Context(), "QQQ")
	assert.True(t, is[*errors.NotFound](err), "%v", err)
}

// download reads a link as a browser does.
func download(t *testing.T, link string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusOK, response.StatusCode)
	file, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return file
}

func TestHostShowsAnInvoiceAndItsPDFs(t *testing.T) {
	w := worlds.Serve(t)
	client := w.Public(once)
	issued, err := w.App(w.AppKey()).Invoices.Create(t.Context(), appapi.InvoiceCreate{
		Currency: model.InvoiceCurrencyEUR, ClientEmail: "client@example.com", Onchain: new(true),
		Items: []model.LineItem{{Name: "Tea", Quantity: model.NewNumber(decimal.NewFromInt(3)),
			Price: decimal.RequireFromString("4.20")}},
	})
	require.NoError(t, err)
	id, err := public.InvoiceID(issued.InvoiceLink)
	require.NoError(t, err)
	seen, err := client.Invoices.Get(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, issued, seen)
	require.Len(t, seen.PaymentMethods, 2)

	copyOf := func(params public.RenderInvoicePDFParams) []byte {
		pdf, err := client.Invoices.PDF(t.Context(), id, params)
		require.NoError(t, err)
		defer pdf.Close()
		assert.NotEmpty(t, pdf.RequestID)
		file, err := io.ReadAll(pdf)
		require.NoError(t, err)
		assert.True(t, bytes.HasPrefix(file, []byte("%PDF-")))
		if pdf.Length >= 0 {
			assert.Len(t, file, int(pdf.Length))
		}
		return file
	}
	plain := copyOf(public.RenderInvoicePDFParams{})
	first := copyOf(public.RenderInvoicePDFParams{Details: new(0)})
	second := copyOf(public.RenderInvoicePDFParams{Details: new(1)})
	assert.NotEqual(t, plain, first, "the chosen method's details are on it")
	assert.NotEqual(t, first, second)
	assert.Equal(t, plain, copyOf(public.RenderInvoicePDFParams{}))

	link, err := client.InvoicePDFLink(id, public.RenderInvoicePDFParams{Details: new(1)})
	require.NoError(t, err)
	assert.Equal(t, second, download(t, link), "anybody can open the link")

	_, err = client.Invoices.PDF(t.Context(), id, public.RenderInvoicePDFParams{Details: new(2)})
	var failed *errors.ValidationFailed
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "details", failed.Fields[0].Field)
	assert.Equal(t, "query", failed.Location)
	_, err = client.Invoices.PDF(t.Context(), "nobodys", public.RenderInvoicePDFParams{})
	assert.True(t, is[*errors.NotFound](err), "%v", err)

	page := w.Host.Arm("GET", "/public/invoices/{id}/pdf", sandbox.Garbage().Times(10))
	_, err = client.Invoices.PDF(t.Context(), id, public.RenderInvoicePDFParams{})
	assert.True(t, is[*errors.UnexpectedResponse](err), "a proxy's page: %v", err)
	assert.Positive(t, page.Consumed())
}
