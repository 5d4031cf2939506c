package paymentstore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/paymentstore"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

var shared testkit.SharedPostgreSQL

func TestMain(m *testing.M) { os.Exit(tests(m)) }

func tests(m *testing.M) int {
	defer shared.Stop()
	return m.Run()
}

// backend is a program that pays while the command runs: a worker over PostgreSQL.
type backend struct {
	program
	pool      *pgxpool.Pool
	processor *payments.Processor
}

// newBackend starts the program. The command finds its database by a URL without the password, which is in a file.
func newBackend(t *testing.T, before ...func(http.Handler) http.Handler) backend {
	t.Helper()
	server, err := url.Parse(shared.PostgreSQL(t).URL())
	require.NoError(t, err)
	password, _ := server.User.Password()
	passwords := filepath.Join(t.TempDir(), "pgpass")
	require.NoError(t, os.WriteFile(passwords, []byte("*:*:*:*:"+password+"\n"), 0o600))
	t.Setenv("PGPASSFILE", passwords)
	b := backend{program: newProgram(t, before...)}
	b.pool, err = pgxpool.New(t.Context(), server.String())
	require.NoError(t, err)
	t.Cleanup(b.pool.Close)
	require.NoError(t, postgres.Migrate(t.Context(), b.pool, "shop"))
	store, err := postgres.Open(t.Context(), b.pool, postgres.Options{Schema: "shop"})
	require.NoError(t, err)
	b.processor, err = payments.New(store, b.services, payments.Config{PollEvery: 20 * time.Millisecond})
	require.NoError(t, err)
	_, err = b.processor.Resume(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, b.processor.Stop(context.WithoutCancel(t.Context()))) })
	server.User = url.User(server.User.Username())
	b.path = server.String()
	return b
}

func (b backend) submit(t *testing.T, key moneymovement.Key, change ...func(*payments.Payment)) {
	t.Helper()
	payment := b.payment(key)
	for _, c := range change {
		c(&payment)
	}
	_, err := b.processor.Submit(t.Context(), payment)
	require.NoError(t, err)
}

func (b backend) becomes(t *testing.T, key moneymovement.Key, state moneymovement.PaymentState) payments.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	record, err := b.processor.Await(ctx, key, state)
	require.NoError(t, err)
	require.Equal(t, state, record.State, "%+v", record.Reason)
	return record
}

// on adds the schema to a command line.
func (b backend) on(t *testing.T, args ...string) ended {
	t.Helper()
	return b.moneymove(t, "", append(args, "-schema", "shop")...)
}

// The worker pays other payments all the time. The person sees one that waits, decides, and the worker goes on with it
// at once.
func TestAPersonDecidesWhileAProgramPaysOverPostgreSQL(t *testing.T) {
	b := newBackend(t)
	credit(t, b.program)
	b.submit(t, "dear", func(p *payments.Payment) { p.Bounds.MaxFee = new(decimal.Decimal) })
	b.submit(t, "wrong", func(p *payments.Payment) { p.Payout.Amount = decimal.NewFromInt(5000) })
	b.submit(t, "fine")
	b.becomes(t, "dear", moneymovement.PaymentNeedsDecision)
	b.becomes(t, "wrong", moneymovement.PaymentNeedsDecision)
	b.becomes(t, "fine", moneymovement.PaymentCompleted)

	listed := b.on(t, "list", "-state", "needs_decision")
	assert.Regexp(t, `(?s)^KEY +STATE.*\ndear +needs_decision .* price\nwrong +needs_decision .* balance\n$`, listed.out)
	assert.Regexp(t, `(?m)^highest fee +0$`, b.on(t, "get", "dear").out)
	canceled := decoded[payments.Record](t,
		b.on(t, "decide", "wrong", "cancel", "-note", "an amount of another invoice", "-author", "ops", "-o", "json"))
	assert.Equal(t, moneymovement.PaymentRefused, canceled.State)
	assert.Equal(t, app.ExitRefused, b.on(t, "decide", "wrong", "retry").code)
	bounded := b.on(t, "decide", "dear", "new-bounds", "-max-fee", "5", "-author", "ops")
	require.Equal(t, app.ExitFine, bounded.code, bounded.errors)
	again := b.on(t, "get", "dear")
	assert.Regexp(t, `(?m)^decided +\S+Z, ops: new bounds \(highest fee 5.*, when it was needs_decision: price$`, again.out)
}

// A decision takes the lease of the payment. While the worker has it, nothing is stored, and the command says so.
func TestADecisionDuringACallOverPostgreSQL(t *testing.T) {
	confirming, goOn := make(chan struct{}), make(chan struct{})
	b := newBackend(t, func(host http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/confirm") {
				close(confirming)
				<-goOn
			}
			host.ServeHTTP(w, r)
		})
	})
	credit(t, b.program)
	b.submit(t, "slow")
	<-confirming
	busy := b.on(t, "decide", "slow", "cancel")
	assert.Equal(t, app.ExitRefused, busy.code)
	assert.Contains(t, busy.errors, "-timeout 1m waits for the end of the call")
	assert.Contains(t, busy.errors, "a call is being made for it; try again when it has ended")
	time.AfterFunc(300*time.Millisecond, func() { close(goOn) }) // the command waits for it, or begins after it
	waited := b.on(t, "decide", "slow", "cancel", "-timeout", "1m")
	assert.Equal(t, app.ExitRefused, waited.code, "it is paid by then")
	assert.NotContains(t, waited.errors, "a call is being made")
	assert.Contains(t, waited.errors, "is not possible")
	settled := b.becomes(t, "slow", moneymovement.PaymentCompleted)
	assert.Empty(t, settled.Decisions)
}

func TestWatchOverPostgreSQL(t *testing.T) {
	b := newBackend(t)
	credit(t, b.program)
	ctx, interrupt := context.WithTimeout(t.Context(), time.Minute)
	defer interrupt()
	seen := until{word: []byte(`"state":"completed"`), found: interrupt}
	all := make(chan int, 1)
	go func() {
		a := &app.App{In: strings.NewReader(""), Out: &seen, Err: io.Discard, Getenv: func(string) string { return "" }}
		root := &cobra.Command{Use: "moneymove"}
		root.AddCommand(paymentstore.Command(a))
		all <- a.Run(ctx, root, []string{"payments", "watch", "-store", b.path, "-schema", "shop"})
	}()
	b.submit(t, "fine")
	one := b.on(t, "watch", "fine")
	assert.Equal(t, app.ExitFine, one.code, one.errors)
	assert.Regexp(t, `(?m)^\S+Z +completed +fine +10 +USDC\n\z`, one.out)
	assert.Equal(t, app.ExitFine, <-all, "a person interrupts it")
	lines := bytes.Split(bytes.TrimSpace(seen.Bytes()), []byte("\n"))
	var last struct{ Payment payments.Record }
	require.NoError(t, json.Unmarshal(lines[len(lines)-1], &last))
	assert.Equal(t, moneymovement.PaymentCompleted, last.Payment.State)
}

// until calls found when a word was written to it.
type until struct {
	bytes.Buffer
	word  []byte
	found func()
}

func (u *until) Write(text []byte) (int, error) {
	n, err := u.Buffer.Write(text)
	if bytes.Contains(u.Bytes(), u.word) {
		u.found()
	}
	return n, err
}

// The ledger has a payment that the store does not have, and the store has one of which the money came back.
func TestReconcileOverPostgreSQL(t *testing.T) {
	b := newBackend(t)
	credit(t, b.program)
	b.submit(t, "fine")
	record := b.becomes(t, "fine", moneymovement.PaymentCompleted)
	server := httptest.NewServer(b.host)
	defer server.Close()
	own := b.host.Credentials()
	keyFile := filepath.Join(t.TempDir(), "developer.pem")
	require.NoError(t, own.Key.Save(keyFile))
	reconcile := func() ended {
		return b.on(t, "reconcile", "-url", server.URL, "-email", own.Email, "-key-file", keyFile, "-session",
			filepath.Join(t.TempDir(), "session"), "-to", time.Now().Add(time.Minute).Format(time.RFC3339))
	}
	agreed := reconcile()
	assert.Equal(t, app.ExitFine, agreed.code, agreed.errors)
	assert.Regexp(t, `(?m)^agree +1, of which 0 are pending$`, agreed.out)

	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: own.Email, Key: own.Key})
	require.NoError(t, err)
	paid, err := platform.Self().Payouts.Pay(t.Context(), b.payout, "by-hand", dapi.PayTerms{})
	require.NoError(t, err)
	differs := reconcile()
	assert.Equal(t, app.ExitOtherwise, differs.code)
	assert.Contains(t, differs.out, "unknown_entry, payout "+string(paid.Payout.ID))
	assert.Contains(t, differs.errors, "differ once\n")
	after, err := b.processor.Get(t.Context(), "fine")
	require.NoError(t, err)
	assert.Equal(t, record.Position, after.Position, "the payment that agrees is left alone")
}

// The tables of a running system are changed by its deployment, and never by this command.
func TestDatabasesThatHoldNoPayments(t *testing.T) {
	b := newBackend(t)
	missing := b.moneymove(t, "", "list", "-schema", "elsewhere")
	assert.Equal(t, app.ExitUsage, missing.code)
	assert.Contains(t, missing.errors, `no payments in the schema "elsewhere"`)
	assert.Contains(t, missing.errors, "postgres.Migrate has not run")
	for _, one := range []struct{ change, says string }{
		{"revision = 1", "does not change tables"}, {"revision = 99, version = 99", "use a later version"},
	} {
		_, err := b.pool.Exec(t.Context(), "UPDATE shop.payments_schema SET "+one.change)
		require.NoError(t, err)
		got := b.on(t, "list")
		assert.Equal(t, app.ExitFailure, got.code)
		assert.Contains(t, got.errors, one.says)
		assert.Empty(t, got.out)
	}
	var version int
	require.NoError(t, b.pool.QueryRow(t.Context(), "SELECT version FROM shop.payments_schema").Scan(&version))
	assert.Equal(t, 99, version)
}

// A wrong password is refused, and is in no error.
func TestThePasswordIsNotPrinted(t *testing.T) {
	b := newBackend(t)
	t.Setenv("PGPASSFILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("PGPASSWORD", "a secret that is wrong")
	got := b.on(t, "list")
	assert.NotEqual(t, app.ExitFine, got.code)
	assert.Contains(t, got.errors, "password authentication failed")
	assert.NotContains(t, got.errors, "a secret")
}
