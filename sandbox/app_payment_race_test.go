package sandbox_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// An invoice that is cancelled is not paid, and one that money paid is not cancelled, however close the two come.
func TestAnInvoiceIsPaidOrCancelledAndNeverBoth(t *testing.T) {
	w := newWorld(t)
	client := w.app()
	client.fund(1)
	for range 100 {
		invoice := client.invoice("USD", "0.01")
		var paid, cancelled reply
		var group sync.WaitGroup
		group.Go(func() { paid = client.call("POST", "/apps/transfer", object{"invoiceId": invoice}) })
		group.Go(func() {
			cancelled = client.call("PUT", "/documents/contracts/invoices/"+invoice, object{"status": "cancelled"})
		})
		group.Wait()
		outcome := fmt.Sprint(paid.status, " ", cancelled.status)
		assert.Contains(t, []string{"200 409", "409 200"}, outcome, "%s %s", paid.raw, cancelled.raw)
	}
}
