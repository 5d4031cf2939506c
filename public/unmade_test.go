package public_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/surfacetest"
	"github.com/moneymovement/moneymovement-go/public"
)

// What no constructor made, or a call without a context, is refused with the name of what is missing.
func TestCallsThatLackWhatNoCallCanDoWithout(t *testing.T) {
	made := newClient(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was sent", r.URL)
		return nil, http.ErrHandlerTimeout
	})
	calls := surfacetest.Surface{Makers: "public.New", Made: []any{made}, Unmade: []any{new(public.Client)}}.Test(t)
	assert.Greater(t, calls, 10, "the walk found next to nothing")

	notMade := errors.Field{Field: "pdf", Code: "not_made", Message: "was not made by public.Invoices.PDF"}
	for _, pdf := range []*public.PDF{nil, new(public.PDF)} {
		n, err := pdf.Read(make([]byte, 1))
		assert.Zero(t, n)
		surfacetest.Refused(t, err, notMade)
		_, err = pdf.Read(nil)
		surfacetest.Refused(t, err, notMade)
		surfacetest.Refused(t, pdf.Close(), notMade)
	}
}
