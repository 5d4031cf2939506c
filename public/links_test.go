package public_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/public"
)

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
		testkit.NoClient(t, err, "public.New")
	}
}
