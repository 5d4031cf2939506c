package public_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/public"
)

// No error leaves the SDK that does not answer for its call.
func TestEveryErrorAnswersForItsCall(t *testing.T) {
	const id = "0b1f7d3e-58a4-4c8e-9d55-3f1f0f0c9a11"
	for mishap, m := range testkit.Usual() {
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
			t.Run(mishap+"/"+operation, func(t *testing.T) {
				m.Befall(t, func(t *testing.T, ctx context.Context, next *http.Client) error {
					client, err := public.New(baseURL, moneymovement.WithHTTPClient(next))
					require.NoError(t, err)
					err = call(ctx, client)
					require.Error(t, err, "an answer that nobody gave")
					return err
				})
			})
		}
	}
}

// What no constructor made, or a call without a context, is refused with the name of what is missing.
func TestCallsThatLackWhatNoCallCanDoWithout(t *testing.T) {
	made := newClient(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was sent", r.URL)
		return nil, http.ErrHandlerTimeout
	})
	calls := testkit.Surface{Makers: "public.New", Made: []any{made}, Unmade: []any{new(public.Client)}}.Test(t)
	assert.Greater(t, calls, 10, "the walk found next to nothing")

	notMade := errors.Field{Field: "pdf", Code: "not_made", Message: "was not made by public.Invoices.PDF"}
	for _, pdf := range []*public.PDF{nil, new(public.PDF)} {
		n, err := pdf.Read(make([]byte, 1))
		assert.Zero(t, n)
		testkit.Refused(t, err, notMade)
		_, err = pdf.Read(nil)
		testkit.Refused(t, err, notMade)
		testkit.Refused(t, pdf.Close(), notMade)
	}
}
