package appapi_test

import (
	"context"
	"io"
	"iter"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// counted walks a list: how many entries came, and which errors.
func counted[T any](all iter.Seq2[T, error]) (entries int, failures []error) {
	for _, err := range all {
		if err != nil {
			failures = append(failures, err)
		} else {
			entries++
		}
	}
	return entries, failures
}

// A list that cannot be read is an error, and never a list that ends early: who takes it for whole would pay what is
// paid already.
func TestEveryWalkEndsInTheErrorThatItMeets(t *testing.T) {
	for name, walk := range map[string]func(context.Context, *appapi.Client) (int, []error){
		"contacts": func(ctx context.Context, app *appapi.Client) (int, []error) {
			return counted(app.Contacts.All(ctx, appapi.ListContactsParams{}))
		},
		"contracts": func(ctx context.Context, app *appapi.Client) (int, []error) {
			return counted(app.Contracts.All(ctx, appapi.ListContractsParams{}))
		},
		"invoices": func(ctx context.Context, app *appapi.Client) (int, []error) {
			return counted(app.Invoices.All(ctx, appapi.ListInvoicesParams{}))
		},
		"transactions": func(ctx context.Context, app *appapi.Client) (int, []error) {
			return counted(app.Transactions.All(ctx, appapi.ListTransactionsParams{}))
		},
		"transfers": func(ctx context.Context, app *appapi.Client) (int, []error) {
			return counted(app.Transfers.All(ctx, appapi.ListTransfersParams{}))
		},
	} {
		for good := range 2 { // pages before the one that fails
			left := good
			_, app := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if left--; left >= 0 {
					_, _ = io.WriteString(w, `{"items":[{"id":"1"}],"total":9}`)
					return
				}
				answering(http.StatusForbidden, `{"error":{"code":"forbidden","message":"no"}}`)(w, nil)
			})
			entries, failures := walk(t.Context(), app)
			assert.Equal(t, good, entries, name)
			require.Len(t, failures, 1, name)
			_, is := errors.AsType[*errors.Forbidden](failures[0])
			assert.True(t, is, "%s: %v", name, failures[0])
		}
	}
}

func TestTemplatesThatCannotBeReadAreAnError(t *testing.T) {
	_, app := serve(t, answering(http.StatusForbidden, `{"error":{"code":"forbidden","message":"no"}}`))
	templates, err := app.Contracts.Templates(t.Context())
	_, is := errors.AsType[*errors.Forbidden](err)
	assert.True(t, is, "%v", err)
	assert.Nil(t, templates)
}
