package sandbox_test

import (
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// BenchmarkMemoryOfPayouts measures how much memory finished payouts hold: those of a bank contact, each booked with a
// key of its own, confirmed and completed.
func BenchmarkMemoryOfPayouts(b *testing.B) {
	for name, forgetAfter := range map[string]time.Duration{"kept": 0, "forgotten": time.Second} {
		b.Run(name, func(b *testing.B) {
			c := newPayingClient(b,
				sandbox.WithSettings(func(s *sandbox.Settings) {
					s.ForgetFinishedAfter = sandbox.Duration(forgetAfter)
				}))
			before := heldMemory()
			for i := range b.N {
				c.pay(fmt.Sprintf("a-key-of-usual-length-%014d", i))
				c.host.Advance(time.Second)
			}
			held := heldMemory() - before
			b.ReportMetric(float64(held)/float64(b.N)*100_000/(1<<20), "MiB/100000")
			b.ReportMetric(float64(c.host.Records())/float64(b.N), "records/payout")
		})
	}
}

// heldMemory is the live heap.
func heldMemory() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// payingClient is a client with money and one contact, on a host of its own whose clock moves only when advanced.
type payingClient struct {
	*inProcess
	contact string
	paid    int
}

func newPayingClient(t testing.TB, options ...sandbox.Option) *payingClient {
	t.Helper()
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	host := sandbox.New(append([]sandbox.Option{
		sandbox.WithClock(func() time.Time { return start }),
		sandbox.WithSettings(func(s *sandbox.Settings) {
			s.ClientReadyAfter = 0
			s.FaucetBalance, s.MaxCredit = decimal.New(1, 12), decimal.New(1, 12)
		}),
	}, options...)...)
	key := newSigner(t)
	if _, err := host.RegisterKey(sandbox.KeyRegistration{Email: host.Credentials().Email,
		PublicKey: key.public(t)}); err != nil {
		t.Fatal(err)
	}
	c := &payingClient{inProcess: logInInProcess(t, host, host.Credentials().Email, key)}
	c.account = c.call("POST", "/clients", http.StatusCreated, object{"email": "acme@example.com"}).text("id")
	c.call("POST", "/sandbox/deposits", http.StatusCreated, object{"amount": "100000000", "currency": "USDC"})
	c.contact = c.call("POST", "/contacts", http.StatusCreated, object{
		"name": "Bob", "account": object{"accountType": "sepa", "iban": "DE89370400440532013000",
			"accountHolderName": "Bob"},
	}).text("id")
	return c
}

// pay books a payout and confirms it.
func (c *payingClient) pay(key string) (id string) {
	if c.paid++; c.paid%1000 == 0 { // before the session expires
		c.bearer = logInInProcess(c.b, c.host, c.host.Credentials().Email, c.key).bearer
	}
	booked := c.call("POST", "/payouts", http.StatusCreated,
		object{"contactId": c.contact, "amount": "12.5", "currency": "USDC"}, key)
	id = booked.text("id")
	c.call("POST", "/payouts/"+id+"/confirm", http.StatusOK, object{
		"approvalId": booked.text("approval", "id"), "publicKey": c.public,
		"signature": c.key.sign(c.b, bytesOf(c.b, booked.text("approval", "payload"))),
	})
	return id
}
