package sandbox_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// BenchmarkPages measures a page of up to 100 out of 100,000 rows, in process: the first, the last, and pages with
// filters. It reports how many entries each page has: one payout is among the deposits.
func BenchmarkPages(b *testing.B) {
	c, middle := longLedger(b, 100_000)
	last := "" // the cursor of the last page
	for cursor, _ := c.page(nil); cursor != ""; cursor, _ = c.page(url.Values{"cursor": {cursor}}) {
		last = cursor
	}
	for _, of := range []struct {
		name  string
		query url.Values
	}{
		{"first", nil}, {"last", url.Values{"cursor": {last}}}, {"since", url.Values{"since": {middle}}},
		{"rare", url.Values{"type": {"payout"}}}, {"deposits", url.Values{"type": {"deposit"}}},
	} {
		b.Run(of.name, func(b *testing.B) {
			b.ReportAllocs()
			entries := 0
			for b.Loop() {
				_, entries = c.page(of.query)
			}
			b.ReportMetric(float64(entries), "entries")
		})
	}
}

// BenchmarkReads measures how many reads of three kinds the host serves in a second, in process and over TCP.
func BenchmarkReads(b *testing.B) {
	c, _ := longLedger(b, 1000)
	server := httptest.NewServer(c.host)
	defer server.Close()
	client := server.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	for name, send := range map[string]func(*http.Request) (int, error){
		"in process": func(r *http.Request) (int, error) {
			recorder := httptest.NewRecorder()
			c.host.ServeHTTP(recorder, r)
			return recorder.Code, nil
		},
		"over TCP": func(r *http.Request) (int, error) {
			response, err := client.Do(r)
			if err != nil {
				return 0, err
			}
			defer response.Body.Close()
			_, err = io.Copy(io.Discard, response.Body)
			return response.StatusCode, err
		},
	} {
		b.Run(name, func(b *testing.B) {
			var made atomic.Int64
			paths := []string{"/clients/" + c.account, "/transactions?limit=10", "/chains"}
			b.SetParallelism(4)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					path := paths[made.Add(1)%int64(len(paths))]
					r, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, server.URL+"/dapi/v1"+path, nil)
					r.Header.Set("Authorization", "Bearer "+c.bearer)
					r.Header.Set("X-Service-Account", c.account)
					if status, err := send(r); err != nil || status != http.StatusOK {
						b.Error(path, status, err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// longLedger returns a client with so many deposits after one payout, and the time in their middle.
func longLedger(b *testing.B, deposits int) (c *payingClient, middle string) {
	c = newPayingClient(b, sandbox.WithSettings(func(s *sandbox.Settings) {
		s.MaxRecords = 10_000_000
		s.FaucetBalance, s.MaxCredit = decimal.New(1, 12), decimal.New(1, 12)
	}))
	c.pay("the-oldest-payout")
	for i := range deposits {
		if i == deposits/2 {
			middle = c.host.Advance(time.Minute).Format(time.RFC3339)
		}
		c.call("POST", "/sandbox/deposits", http.StatusCreated, object{"amount": "1", "currency": "USDC"},
			fmt.Sprint(i))
	}
	return c, middle
}

// page reads a page of up to 100 transactions, and returns the cursor of the page that follows.
func (c *inProcess) page(query url.Values) (cursor string, entries int) {
	asked := url.Values{"limit": {"100"}}
	for name, values := range query {
		asked[name] = values
	}
	body := c.send(http.MethodGet, "/transactions?"+asked.Encode(), http.StatusOK, nil).Body.String()
	_, rest, _ := strings.Cut(body, `"nextCursor":"`)
	cursor, _, _ = strings.Cut(rest, `"`)
	return cursor, strings.Count(body, `"createdAt":`)
}
