package sandbox_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// BenchmarkPayments measures how many payouts the host books and confirms in a second, in process, each with a key of
// its own, and how much memory it then holds. The caller's signature is in the figure too. The variants are what a test
// of very many payments uses: an audit, no request log, payouts that are forgotten, faults by a function, and payouts
// that fail or come back much later.
func BenchmarkPayments(b *testing.B) {
	const day = sandbox.Duration(24 * time.Hour)
	light := []sandbox.Option{sandbox.WithAudit(), sandbox.WithRequestLog(0),
		sandbox.WithSettings(func(s *sandbox.Settings) { s.ForgetFinishedAfter = sandbox.Duration(time.Second) })}
	for name, options := range map[string][]sandbox.Option{
		"kept":  nil,
		"audit": light,
		"returning": append(light[:3:3], sandbox.WithSettings(func(s *sandbox.Settings) {
			s.FailOneIn, s.RefundOneIn, s.RefundAfter, s.ReturnAfter = 10, 10, day, day
		})),
	} {
		b.Run(name, func(b *testing.B) {
			c := newPayingClient(b, append([]sandbox.Option{sandbox.WithClock(time.Now),
				sandbox.WithInstantProgress(), sandbox.WithSettings(func(s *sandbox.Settings) {
					s.FaucetBalance, s.MaxCredit = decimal.New(1, 12), decimal.New(1, 12)
				})}, options...)...)
			c.host.Intercept(func(sandbox.Request) sandbox.Fault { return sandbox.Fault{} })
			before := heldMemory()
			var paid atomic.Int64
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				mine := *c
				session := *c.inProcess
				mine.inProcess = &session
				for pb.Next() {
					mine.pay(fmt.Sprintf("a-key-of-usual-length-%014d", paid.Add(1)))
				}
			})
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "payments/s")
			b.ReportMetric(float64(heldMemory()-before)/float64(b.N), "B/payment")
			c.send("GET", "/chains", http.StatusOK, nil)
		})
	}
}
