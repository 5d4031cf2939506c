package examples_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// guideTest uses the code of docs/calling-pay.md: a response is lost, another process goes on, the ledger is read, and
// the process is stopped.
const guideTest = `package guide

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// database keeps rows by their ids.
type database struct {
	mu   sync.Mutex
	rows map[string]row
}

// ledgerDatabase keeps what changed in the ledger.
type ledgerDatabase struct {
	position dapi.LedgerPosition
	payouts  []dapi.PayoutID
	changes  int
}

func (d *ledgerDatabase) Position(context.Context) (dapi.LedgerPosition, error) { return d.position, nil }

func (d *ledgerDatabase) Save(_ context.Context, change dapi.TransactionChange) error {
	d.position = change.Position
	d.changes++
	if change.Transaction.PayoutID != "" {
		d.payouts = append(d.payouts, change.Transaction.PayoutID)
	}
	return nil
}

func (d *database) Save(_ context.Context, r *row) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rows[r.ID].Version != r.Version {
		return errors.New("another worker has the payment")
	}
	r.Version++
	d.rows[r.ID] = *r
	return nil
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func Test(t *testing.T) {
	host := sandbox.New(sandbox.WithSettings(func(s *sandbox.Settings) { s.ClientReadyAfter = 0 }))
	server := httptest.NewServer(host)
	defer server.Close()
	developer := dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key}
	start := func() *dapi.Integrator {
		platform, err := dapi.NewIntegrator(server.URL, developer,
			moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}))
		check(t, err)
		return platform
	}
	platform := start()
	client, err := platform.Clients.Create(t.Context(),
		dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	check(t, err)
	account := platform.For(client.ID)
	contact, err := account.Contacts.Create(t.Context(),
		dapi.ContactCreate{Account: dapi.Onchain(dapi.OnchainAccount{
			WalletAddress: "0x1111111111111111111111111111111111111111", ChainID: "base", Currency: "USDC",
		})})
	check(t, err)
	payment := func(id string) *row {
		fee := decimal.NewFromInt(1)
		return &row{ID: id, Attempt: "1", Bounds: dapi.Bounds{MaxFee: &fee}, Terms: dapi.PayoutCreate{
			ContactID: contact.ID, Amount: decimal.RequireFromString("12.50"), Currency: dapi.USDC,
		}}
	}
	db := &database{rows: map[string]row{}}

	// nothing is paid without money
	if err := pay(t.Context(), account, db, payment("42")); err == nil {
		t.Fatal("paid without money")
	}
	if stored := db.rows["42"]; stored.State != moneymovement.PaymentNeedsDecision || !stored.History.Unpaid ||
		stored.History.PayoutID == "" {
		t.Fatalf("%+v", stored)
	}
	_, err = account.Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(50), Currency: dapi.USDC})
	check(t, err)

	// the response to the confirm is lost, and the payout cannot be read
	host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.DropAfterCommit())
	host.Arm(http.MethodGet, "/payouts/{payoutId}", sandbox.DropBefore().Times(3))
	stored := db.rows["42"]
	if err := pay(t.Context(), account, db, &stored); err == nil {
		t.Fatal("the response was not lost")
	}
	if stored := db.rows["42"]; stored.State != moneymovement.PaymentInDoubt || stored.History.Unpaid {
		t.Fatalf("%+v", stored)
	}

	// another process goes on from the row, and a third one does not know that
	account = start().For(client.ID)
	stored = db.rows["42"]
	late := stored
	check(t, pay(t.Context(), account, db, &stored))
	if stored := db.rows["42"]; stored.State != moneymovement.PaymentPaid || stored.History.PayoutID == "" {
		t.Fatalf("%+v", stored)
	}
	if err := pay(t.Context(), account, db, &late); err == nil || late.State != moneymovement.PaymentInDoubt {
		t.Fatalf("%+v %v", late, err)
	}
	if balance := host.Ledger().Balances[string(client.ID)]["USDC"]; balance.String() != "37.5" {
		t.Fatalf("the balance is %s", balance)
	}

	// the ledger has the payment, and nothing is delivered twice
	ledger := &ledgerDatabase{}
	check(t, readLedger(t.Context(), account.Transactions, ledger))
	if len(ledger.payouts) != 1 || ledger.payouts[0] != stored.History.PayoutID {
		t.Fatalf("%v", ledger.payouts)
	}
	before := ledger.changes
	check(t, readLedger(t.Context(), account.Transactions, ledger))
	if ledger.changes != before {
		t.Fatalf("%d changes, then %d", before, ledger.changes)
	}

	// what was taken before SIGTERM is paid
	incoming, ended := make(chan *row), make(chan struct{})
	go func() {
		defer close(ended)
		run(account, db, incoming)
	}()
	incoming <- payment("43")
	check(t, syscall.Kill(syscall.Getpid(), syscall.SIGTERM))
	<-ended
	if stored := db.rows["43"]; stored.State != moneymovement.PaymentPaid {
		t.Fatalf("%+v", stored)
	}
}
`

// The code of the guide compiles as one package, behind the imports that it needs, and does what the guide says.
func TestTheCodeOfTheGuideWorks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs SIGTERM, which Windows does not have; make check on any other system runs it")
	}
	code := codeOf(t, "docs/calling-pay.md")
	require.GreaterOrEqual(t, len(code), 5)
	imports := []string{"context", "fmt", "log/slog", "net/http", "os", "os/signal", "sync", "syscall", "time"}
	for _, name := range []string{"", "/dapi", "/errors", "/signing"} {
		imports = append(imports, "github.com/moneymovement/moneymovement-go"+name)
	}
	files := map[string]string{"guide_test.go": guideTest}
	for i, block := range code {
		var file strings.Builder
		file.WriteString("package guide\n\nimport (\n")
		for _, path := range imports {
			name := strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], "-go")
			if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(block) {
				fmt.Fprintf(&file, "\t%s %q\n", name, path)
			}
		}
		file.WriteString(")\n\n" + block)
		files[fmt.Sprintf("block%d.go", i)] = file.String()
	}
	binary := filepath.Join(t.TempDir(), "guide.test")
	const pkg = "internal/readme/guide"
	said, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", binary,
		overlay(t, pkg, files), "./"+pkg).CombinedOutput()
	require.NoError(t, err, "%s", said)
	said, err = exec.CommandContext(t.Context(), binary, "-test.v").CombinedOutput()
	assert.NoError(t, err, "%s", said)
	assert.Contains(t, string(said), "--- PASS: Test ")
}
