package payments_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// fields is a log that keeps the names of the fields of its records. Those of a group begin with its name.
type fields struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (f *fields) Enabled(context.Context, slog.Level) bool { return true }
func (f *fields) WithAttrs([]slog.Attr) slog.Handler {
	panic("the SDK logs each field with its record")
}
func (f *fields) WithGroup(string) slog.Handler { panic("the SDK logs each field with its record") }

func (f *fields) Handle(_ context.Context, r slog.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool { f.add("", a); return true })
	return nil
}

func (f *fields) add(prefix string, a slog.Attr) {
	value := a.Value.Resolve()
	if value.Kind() != slog.KindGroup {
		f.seen[prefix+a.Key] = true
		return
	}
	for _, inner := range value.Group() {
		f.add(prefix+a.Key+".", inner)
	}
}

// The tables of docs/operations.md have each field that a client and a processor log, and no other one.
func TestThePageHasEachFieldOfTheLog(t *testing.T) {
	ofClient, ofPayments := &fields{seen: map[string]bool{}}, &fields{seen: map[string]bool{}}
	calls := moneymovement.WithLogger(slog.New(ofClient))
	notes := func(c *payments.Config) { c.Logger = slog.New(ofPayments) }
	for name, happens := range map[string]func(*world){
		"calls that fail, and are repeated": func(w *world) {
			account := w.platform(calls).For(w.account)
			w.Host.Arm(http.MethodPost, "/payouts", sandbox.Respond(503, "provider_unavailable"))
			w.Host.Arm(http.MethodPost, "/payouts", sandbox.DropBefore())
			_, err := account.Payouts.Pay(w.Context(), w.payment(1).Payout, "invoice-1", dapi.PayTerms{})
			require.NoError(w, err)
		},
		"a refusal that the program logs": func(w *world) {
			w.Host.Arm(http.MethodPost, "/payouts", sandbox.Respond(422, "validation_failed").
				WithDetails(map[string]any{"fields": []any{map[string]any{"field": "amount", "code": "decimal_type"}}}))
			account := w.platform().For(w.account)
			payment, _ := account.Payouts.Pay(w.Context(), w.payment(1).Payout, "invoice-1", dapi.PayTerms{})
			slog.New(ofClient).Error("not paid", "refusal", payment.Refusal)
		},
		"a session that ends": func(w *world) {
			own := w.platform(calls).Self()
			w.Host.Arm(http.MethodGet, "/transactions", sandbox.ExpireToken())
			w.Host.Arm(http.MethodPost, "/auth/refresh", sandbox.Respond(http.StatusForbidden, "forbidden"))
			for range 2 {
				_, err := own.Transactions.List(w.Context(), dapi.ListTransactionsParams{})
				require.NoError(w, err)
			}
		},
		"a response that is not as described": func(w *world) {
			w.Host.Arm(http.MethodGet, "/chains", sandbox.Respond(http.StatusOK, "").
				WithBody(`{"items":[{"chainId":8453,"name":7}]}`).WithHeader("Content-Type", "application/json"))
			_, _ = w.platform(calls).Self().Chains.List(w.Context(), dapi.ListChainsParams{})
		},
		"a window that is full": func(w *world) {
			own := w.platform(calls).Self()
			for began := time.Now(); time.Since(began) < time.Second; {
				_, err := own.Transactions.List(w.Context(), dapi.ListTransactionsParams{})
				require.NoError(w, err)
			}
		},
		"clocks that differ": func(w *world) {
			w.Host.Advance(10 * time.Minute)
			_, err := w.platform(calls).Self().Transactions.List(w.Context(), dapi.ListTransactionsParams{})
			require.NoError(w, err)
		},
		"a payment that is not made in time": func(w *world) {
			w.Host.Arm(http.MethodPost, "/payouts", sandbox.DropBefore().Times(1_000_000))
			w.submit(w.started(notes), w.payment(1))
			time.Sleep(25 * time.Hour)
		},
		"a store that is away": func(w *world) {
			store := watch(w.store)
			w.store = store
			p := w.started(notes)
			store.failing(func(string, int) failure { return before })
			time.Sleep(time.Minute)
			store.failing(nil)
			time.Sleep(10 * time.Minute)
			w.submit(p, w.payment(1))
			w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted)
		},
	} {
		t.Run(name, func(t *testing.T) { inBubble(t, happens) })
	}

	page, err := os.ReadFile("../../../docs/operations.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## The log\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	tables := strings.Split(section, "\n| Field |")[1:]
	require.Len(t, tables, 2)
	for i, seen := range []map[string]bool{ofClient.seen, ofPayments.seen} {
		var stated []string
		for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(tables[i], -1) {
			for _, name := range strings.Split(row[1], ", ") {
				stated = append(stated, strings.Trim(name, "`"))
			}
		}
		assert.ElementsMatch(t, slices.Collect(maps.Keys(seen)), stated, "the fields that were logged, and the page's")
	}

	// What the code can log was logged above.
	logs := regexp.MustCompile(`(?:slog\.\w+|Milliseconds)\("(\w+)"`)
	for folder, seen := range map[string]map[string]bool{
		"dapi": ofClient.seen, "internal/transport": ofClient.seen, "payments": ofPayments.seen,
	} {
		files, err := filepath.Glob("../../../" + folder + "/*.go")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			code, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, named := range logs.FindAllStringSubmatch(string(code), -1) {
				name := named[1]
				if strings.HasPrefix(named[0], "Milliseconds") {
					name += "Ms"
				}
				logged := seen[name] || slices.ContainsFunc(slices.Collect(maps.Keys(seen)),
					func(of string) bool { return strings.HasPrefix(of, name+".") })
				assert.True(t, logged, "%s logs %s: let it happen in this test", file, name)
			}
		}
	}
}
