package sandbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// BenchmarkPages measures a page of 100 out of 100,000 rows, in process: the first, the last, and pages with filters.
func BenchmarkPages(b *testing.B) {
	const rows = 100_000
	c := newPayingClient(b, sandbox.WithSettings(func(s *sandbox.Settings) {
		s.MaxRecords = 100 * rows
		s.FaucetBalance, s.MaxCredit = decimal.New(1, 12), decimal.New(1, 12)
	}))
	c.pay("the-oldest-payout")
	middle := time.Time{}
	for i := range rows {
		if i == rows/2 {
			middle = c.host.Advance(time.Minute)
		}
		c.call("POST", "/sandbox/deposits", http.StatusCreated, object{"amount": "1", "currency": "USDC"},
			fmt.Sprint(i))
	}
	last := "" // the cursor of the last page
	for cursor := c.next(nil); cursor != ""; cursor = c.next(url.Values{"cursor": {cursor}}) {
		last = cursor
	}
	since := middle.Format(time.RFC3339)
	for name, query := range map[string]url.Values{
		"first": {}, "last": {"cursor": {last}}, "since": {"since": {since}}, "rare": {"type": {"payout"}},
		"deposits": {"type": {"deposit"}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.next(query)
			}
		})
	}
}

// next reads a page of 100 transactions, and returns the cursor of the page that follows.
func (c *inProcess) next(query url.Values) string {
	asked := url.Values{"limit": {"100"}}
	for name, values := range query {
		asked[name] = values
	}
	page := c.send(http.MethodGet, "/transactions?"+asked.Encode(), http.StatusOK, nil)
	_, rest, _ := strings.Cut(page.Body.String(), `"nextCursor":"`)
	cursor, _, _ := strings.Cut(rest, `"`)
	return cursor
}
