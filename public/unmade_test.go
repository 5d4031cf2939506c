package public_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/public"
)

// What no constructor made, or a call without a context, is refused with the name of what is missing.
func TestCallsThatLackWhatNoCallCanDoWithout(t *testing.T) {
	const id = "0b1f7d3e-58a4-4c8e-9d55-3f1f0f0c9a11"
	var without context.Context
	made := newClient(t, nil)
	for operation, call := range map[string]func(context.Context, *public.Client) error{
		"GetRates":   func(ctx context.Context, c *public.Client) error { _, err := c.Rates.Get(ctx, "EUR"); return err },
		"GetInvoice": func(ctx context.Context, c *public.Client) error { _, err := c.Invoices.Get(ctx, id); return err },
		"GetPDF": func(ctx context.Context, c *public.Client) error {
			_, err := c.Invoices.PDF(ctx, id, public.RenderInvoicePDFParams{})
			return err
		},
	} {
		t.Run(operation, func(t *testing.T) {
			refusedFor(t, call(t.Context(), new(public.Client)), "client", "public.New")
			refusedFor(t, call(without, made), "context", "context.Background()")
		})
	}
	for _, pdf := range []*public.PDF{nil, new(public.PDF)} {
		n, err := pdf.Read(make([]byte, 1))
		assert.Zero(t, n)
		refusedFor(t, err, "pdf", "public.Invoices.PDF")
		refusedFor(t, pdf.Close(), "pdf", "public.Invoices.PDF")
	}
}

func refusedFor(t *testing.T, err error, field, says string) {
	t.Helper()
	refused, is := errors.AsType[*errors.InvalidInput](err)
	require.True(t, is, "%v", err)
	assert.NotEmpty(t, refused.Operation)
	require.NotEmpty(t, refused.Fields)
	assert.Equal(t, field, refused.Fields[0].Field)
	assert.Equal(t, map[string]string{"client": "not_made", "pdf": "not_made", "context": "required"}[field], refused.Fields[0].Code)
	assert.Contains(t, refused.Fields[0].Message, says)
}
