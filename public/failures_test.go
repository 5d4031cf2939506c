package public_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/public"
)

// No error leaves the SDK that does not answer for its call.
func TestEveryErrorAnswersForItsCall(t *testing.T) {
	const id = "0b1f7d3e-58a4-4c8e-9d55-3f1f0f0c9a11"
	for mishap, respond := range map[string]httpmock.Responder{
		"canceled":   nil,
		"no network": httpmock.NewErrorResponder(errors.New("an error of the caller's own kind")),
		"a web page": httpmock.NewStringResponder(http.StatusOK, "<html>"),
		"a gateway":  httpmock.NewStringResponder(http.StatusBadGateway, "<html>"),
	} {
		for operation, call := range map[string]func(context.Context, *public.Client) error{
			"GetRates":   func(ctx context.Context, c *public.Client) error { _, err := c.Rates.Get(ctx, "EUR"); return err },
			"GetInvoice": func(ctx context.Context, c *public.Client) error { _, err := c.Invoices.Get(ctx, id); return err },
			"GetPDF": func(ctx context.Context, c *public.Client) error {
				_, err := c.Invoices.PDF(ctx, id, public.RenderInvoicePDFParams{})
				return err
			},
		} {
			t.Run(mishap+"/"+operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if respond == nil {
						cancel()
					}
					err := call(ctx, newClient(t, respond))
					_, typed := errors.AsType[errors.Failure](err)
					assert.True(t, typed, "%T: %v", err, err)
					head, ok := errors.HeadOf(err)
					assert.True(t, ok && head.Operation != "", "%T: %v", err, err)
				})
			})
		}
	}
}
