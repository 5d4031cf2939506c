package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// asCommand makes this program of tests the command itself, so that a shell can run it.
const asCommand = "MONEYMOVE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(tests(m))
}

// databases is the PostgreSQL server of the examples that name one.
var databases testkit.SharedPostgreSQL

func tests(m *testing.M) int {
	defer databases.Stop()
	return m.Run()
}

// database is where the page's examples find the payments in PostgreSQL.
const database = "postgres://ops@db.internal/shop"

// endless are the examples that run until somebody ends them.
var endless = []string{"moneymove sandbox -", "moneymove requests -f", "moneymove tx -f",
	"moneymove payments watch -state"}

// exits are the examples that end with another code than 0, because of what the reader's payments are.
var exits = map[string]string{"moneymove payments watch invoice-42": "5", "moneymove payments reconcile -as": "7"}

// asking are the examples at which a person types yes.
var asking = []string{"moneymove pay 25 USDC -to ct_1 -key invoice-42 -as", "moneymove sign -d"}

// TestReferenceExamplesRun runs each example as its reader does: in a shell, with the files and the ids that it
// names.
func TestReferenceExamplesRun(t *testing.T) {
	testkit.Long(t, "starts a host and processes for each example")
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS == "windows" {
		testkit.Missing(t, "pages", "the examples need Unix and the program sh")
	}
	page, err := os.ReadFile("../../docs/moneymove.md")
	require.NoError(t, err)
	examples := examplesOf(string(page))
	require.Greater(t, len(examples), 50)
	for _, example := range examples {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, example)
			if slices.ContainsFunc(endless, func(start string) bool { return strings.HasPrefix(example, start) }) {
				r.interrupt(r.line(example))
				return
			}
			r.do(r.line(example))
		})
	}
}

// examplesOf returns the lines of the page that run the command.
func examplesOf(page string) (found []string) {
	inside := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sh"
		case inside && strings.Contains(line, "moneymove ") && !slices.Contains(found, line):
			found = append(found, line)
		}
	}
	return found
}

// reader is somebody who tries an example: with a host, a client that has money, and the files that the example names.
type reader struct {
	*testing.T
	example, folder, url string
	bin                  string // has the command
	database             string // "" without PostgreSQL
	host                 *sandbox.Host
	client               dapi.ClientID
	contact              dapi.ContactID
	payout               dapi.PayoutID
}

func newReader(t *testing.T, example string) *reader {
	t.Helper()
	host := sandbox.New(sandbox.WithControl(), sandbox.WithInstantProgress())
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)
	r := &reader{T: t, example: example, folder: t.TempDir(), bin: t.TempDir(), url: server.URL, host: host}
	program, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(program, filepath.Join(r.bin, "moneymove")))
	own := host.Credentials()
	require.NoError(t, own.Key.Save(r.path("host.pem")))
	platform, err := dapi.NewIntegrator(r.url, dapi.Developer{Email: own.Email, Key: own.Key},
		moneymovement.WithPolling(time.Millisecond, 10*time.Millisecond))
	require.NoError(t, err)
	_, err = platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: "ada@example.com"})
	require.NoError(t, err)
	client, err := platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"})
	require.NoError(t, err)
	r.client = client.ID
	account := platform.For(client.ID)
	_, err = account.Sandbox.Deposit(t.Context(), dapi.DepositCreate{Amount: decimal.NewFromInt(100),
		Currency: dapi.USDC})
	require.NoError(t, err)
	contact, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Supplier",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
			AccountHolderName: "Supplier"})})
	require.NoError(t, err)
	r.contact = contact.ID
	asked := dapi.PayoutCreate{ContactID: r.contact, Amount: decimal.NewFromInt(25), Currency: dapi.USDC}
	paid, err := account.Payouts.Pay(t.Context(), asked, "invoice-1", dapi.PayTerms{})
	require.NoError(t, err)
	r.payout = paid.Payout.ID
	r.files()
	switch {
	case r.names("payments.db"):
		store, err := sqlite.Open(t.Context(), r.path("payments.db"))
		require.NoError(t, err)
		r.payments(store, payments.IntegratorServices(platform), asked)
		require.NoError(t, store.Close())
	case r.names(database):
		r.database = databases.PostgreSQL(t).URL()
		pool, err := pgxpool.New(t.Context(), r.database)
		require.NoError(t, err)
		defer pool.Close()
		require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
		store, err := postgres.Open(t.Context(), pool, postgres.Options{})
		require.NoError(t, err)
		r.payments(store, payments.IntegratorServices(platform), asked)
	}
	return r
}

func (r *reader) path(name string) string { return filepath.Join(r.folder, name) }

func (r *reader) names(text string) bool { return strings.Contains(r.example, text) }

// files writes the files that the example names.
func (r *reader) files() {
	r.Helper()
	for name, content := range map[string]string{
		"key.txt":        r.host.Credentials().APIKey.Reveal(),
		"passphrase.txt": "correct horse battery staple",
		"payout.json":    `{"contactId":"` + string(r.contact) + `","amount":"25","currency":"USDC"}`,
		"contact.json":   `{"name":"Supplier","account":{"accountType":"email","email":"ada@example.com"}}`,
	} {
		require.NoError(r, os.WriteFile(r.path(name), []byte(content), 0o600))
	}
	switch {
	case r.names("keys new"): // writes the file itself
	case r.names("keys register"):
		r.do("moneymove keys new developer.pem")
	case r.names("developer.pem"):
		r.do("cp host.pem developer.pem")
	case r.names("convert encrypted.pem"):
		r.do("moneymove keys convert host.pem encrypted.pem -new-passphrase-file passphrase.txt")
	case r.names("@booked.json"), r.names("@signed.json"):
		r.do("moneymove call POST /dapi/v1/payouts -key invoice-2 -d @payout.json > booked.json")
		r.do("moneymove sign -yes -d @booked.json -request @payout.json > signed.json")
		booked, err := os.ReadFile(r.path("booked.json"))
		require.NoError(r, err)
		var payout struct{ ID dapi.PayoutID }
		require.NoError(r, json.Unmarshal(booked, &payout))
		r.payout = payout.ID
	}
}

// payments fills the store of a program that waits for a person: the price of its payment was too high.
func (r *reader) payments(store payments.Store, services payments.Services, asked dapi.PayoutCreate) {
	r.Helper()
	processor, err := payments.New(store, services, payments.Config{PollEvery: 10 * time.Millisecond})
	require.NoError(r, err)
	none := decimal.Zero
	_, err = processor.Submit(r.Context(), payments.Payment{Key: "invoice-42", Account: r.client, Payout: asked,
		Bounds: dapi.Bounds{MaxFee: &none}})
	require.NoError(r, err)
	_, err = processor.Resume(r.Context())
	require.NoError(r, err)
	waiting, err := processor.Await(r.Context(), "invoice-42")
	require.NoError(r, err)
	require.Equal(r, moneymovement.PaymentNeedsDecision, waiting.State)
	require.NoError(r, processor.Stop(r.Context()))
}

// databaseURL is the reader's database without its password, which no command line has.
func (r *reader) databaseURL() string {
	at, err := url.Parse(r.database)
	require.NoError(r, err)
	at.User = url.User(at.User.Username())
	return at.String()
}

// password is that of the reader's database.
func (r *reader) password() string {
	at, err := url.Parse(r.database)
	require.NoError(r, err)
	password, _ := at.User.Password()
	return password
}

// shell prepares a shell that reads a line.
func (r *reader) shell(line string) *exec.Cmd {
	process := exec.CommandContext(r.Context(), "sh", "-euc", line)
	process.Dir, process.Env = r.folder, r.environment()
	return process
}

// do runs a line.
func (r *reader) do(line string) {
	r.Helper()
	said, err := r.shell(line).CombinedOutput()
	require.NoError(r, err, "%s", said)
}

// interrupt runs a line until it has printed something, and then ends it as Ctrl-C does.
func (r *reader) interrupt(line string) {
	r.Helper()
	process := r.shell("exec " + line)
	var problems bytes.Buffer
	process.Stderr = &problems
	out, err := process.StdoutPipe()
	require.NoError(r, err)
	require.NoError(r, process.Start())
	_, err = out.Read(make([]byte, 1))
	require.NoError(r, err, "%s", &problems)
	require.NoError(r, process.Process.Signal(os.Interrupt))
	_, err = io.Copy(io.Discard, out)
	require.NoError(r, err)
	assert.NoError(r, process.Wait(), "%s", &problems)
}

// line puts the reader's own ids and addresses in the place of those of the page.
func (r *reader) line(example string) string {
	line := strings.NewReplacer("cl_123", string(r.client), "ct_1", string(r.contact), "po_1", string(r.payout),
		"https://host", r.url, "https://sandbox.example", r.url, database, "'"+r.databaseURL()+"'",
		" | source", "", " | Out-String | Invoke-Expression", "").Replace(example)
	switch {
	case strings.HasPrefix(line, "moneymove sandbox -") && !strings.Contains(line, "-addr"):
		line += " -addr 127.0.0.1:0"
	case slices.ContainsFunc(asking, func(start string) bool { return strings.HasPrefix(example, start) }):
		line = strings.Replace(line, " -", " -yes -", 1)
	}
	for start, code := range exits {
		if strings.HasPrefix(example, start) {
			line += " || test $? = " + code
		}
	}
	return line
}

// environment is what "moneymove sandbox env" sets, and nothing that the machine has for another host.
func (r *reader) environment() []string {
	own := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MONEYMOVE") })
	credentials := r.host.Credentials()
	return append(own, asCommand+"=yes", "PATH="+r.bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+r.folder, "PGPASSWORD="+r.password(), "XDG_CONFIG_HOME="+r.path("config"), "XDG_CACHE_HOME="+r.path("cache"),
		"MONEYMOVE_CONTROL_URL="+r.url+"/_host", "MONEYMOVEMENT_BASE_URL="+r.url,
		"MONEYMOVEMENT_EMAIL="+credentials.Email, "MONEYMOVEMENT_KEY_FILE="+r.path("host.pem"),
		"MONEYMOVEMENT_API_KEY="+credentials.APIKey.Reveal(), "MONEYMOVEMENT_CLIENT="+string(r.client))
}
