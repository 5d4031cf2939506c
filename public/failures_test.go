package public_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/surfacetest"
	"github.com/moneymovement/moneymovement-go/public"
)

// No error leaves the SDK that does not answer for its call.
func TestEveryErrorAnswersForItsCall(t *testing.T) {
	const id = "0b1f7d3e-58a4-4c8e-9d55-3f1f0f0c9a11"
	for mishap, m := range surfacetest.Usual() {
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
