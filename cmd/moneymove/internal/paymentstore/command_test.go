package paymentstore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/paymentstore"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// program is a program that keeps its payments in a file, and pays them at a sandbox host.
type program struct {
	path     string
	host     *sandbox.Host
	services payments.Services
	payout   dapi.PayoutCreate
}

func newProgram(t *testing.T, before ...func(http.Handler) http.Handler) program {
	t.Helper()
	host := sandbox.New(sandbox.WithInstantProgress())
	var handler http.Handler = host
	for _, wrap := range before {
		handler = wrap(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	own := host.Credentials()
	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: own.Email, Key: own.Key},
		moneymovement.WithPolling(time.Millisecond, 10*time.Millisecond))
	require.NoError(t, err)
	contact, err := platform.Self().Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Supplier",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
			AccountHolderName: "Supplier"})})
	require.NoError(t, err)
	return program{filepath.Join(t.TempDir(), "payments.db"), host, payments.IntegratorServices(platform),
		dapi.PayoutCreate{ContactID: contact.ID, Amount: decimal.NewFromInt(10), Currency: dapi.USDC}}
}

// run runs the program: it submits payments, and pays until each of these keys has ended or needs a decision.
func (p program) run(t *testing.T, keys []moneymovement.Key, submitted ...payments.Submission) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), p.path)
	require.NoError(t, err)
	processor, err := payments.New(store, p.services, payments.Config{PollEvery: 10 * time.Millisecond})
	require.NoError(t, err)
	for _, submission := range submitted {
		_, err := processor.Submit(t.Context(), submission)
		require.NoError(t, err)
	}
	_, err = processor.Resume(t.Context())
	require.NoError(t, err)
	for _, key := range keys {
		_, err := processor.Await(t.Context(), key)
		require.NoError(t, err)
	}
	require.NoError(t, processor.Stop(context.WithoutCancel(t.Context())))
	require.NoError(t, store.Close())
}

func (p program) payment(key moneymovement.Key) payments.Payment {
	return payments.Payment{Key: key, Account: payments.OwnAccount, Payout: p.payout}
}

// ended is what a command left behind.
type ended struct {
	code        int
	out, errors string
}

// moneymove runs a command for the file, as a person at a terminal who types input does.
func (p program) moneymove(t *testing.T, input string, args ...string) ended {
	t.Helper()
	var out, problems bytes.Buffer
	a := &app.App{In: strings.NewReader(input), Out: &out, Err: &problems, Terminal: true, InTerminal: input != "",
		ErrTerminal: true, Getenv: func(string) string { return "" }}
	root := &cobra.Command{Use: "moneymove"}
	root.AddCommand(paymentstore.Command(a))
	args = append([]string{"payments"}, args...)
	if p.path != "" {
		args = append(args, "-store", p.path)
	}
	code := a.Run(t.Context(), root, args)
	return ended{code, out.String(), problems.String()}
}

// decoded returns what a command printed as JSON.
func decoded[T any](t *testing.T, from ended) (value T) {
	t.Helper()
	require.Equal(t, app.ExitFine, from.code, from.errors)
	require.NoError(t, json.Unmarshal([]byte(from.out), &value))
	return value
}

// A payment without money waits for a person, who sees it, pays money in, and decides. The program goes on with it.
func TestAPersonDecidesBetweenTwoRunsOfTheProgram(t *testing.T) {
	p := newProgram(t)
	p.run(t, []moneymovement.Key{"invoice-1", "invoice-2"},
		p.payment("invoice-1"), p.payment("invoice-2"))

	got := p.moneymove(t, "", "list")
	require.Equal(t, app.ExitFine, got.code, got.errors)
	assert.Regexp(t, `^KEY +STATE +KIND +ACCOUNT +AMOUNT +CURRENCY +CHANGED +WHY\n`+
		`invoice-1 +needs_decision +payout +self +10 +USDC +\S+Z +balance\n`+
		`invoice-2 +needs_decision +payout +self +10 +USDC +\S+Z +balance\n$`, got.out)
	got = p.moneymove(t, "", "get", "invoice-1")
	require.Equal(t, app.ExitFine, got.code, got.errors)
	for _, line := range []string{`key +invoice-1`, `state +needs_decision`, `contact +ct_\w+`, `accepted +\S+Z`,
		`calls +\d`, `why +balance`, `available +0 USDC`} {
		assert.Regexp(t, `(?m)^`+line+`$`, got.out)
	}

	got = p.moneymove(t, "", "decide", "invoice-2", "cancel", "-note", "sent twice", "-o", "json")
	canceled := decoded[payments.Record](t, got)
	require.Len(t, canceled.Decisions, 1)
	own, err := user.Current()
	require.NoError(t, err)
	assert.Equal(t, own.Username, canceled.Decisions[0].By)
	assert.Equal(t, moneymovement.PaymentRefused, canceled.State)
	assert.Equal(t, "sent twice", canceled.Reason.Message)
	got = p.moneymove(t, "", "decide", "invoice-2", "retry")
	assert.Equal(t, app.ExitRefused, got.code)
	assert.Contains(t, got.errors, "retry is not possible")
	assert.Empty(t, got.out)

	credit(t, p)
	retried := decoded[payments.Record](t, p.moneymove(t, "", "decide", "invoice-1", "retry",
		"-author", "Zoë, night shift", "-o", "json"))
	assert.Equal(t, moneymovement.PaymentAccepted, retried.State)
	p.run(t, []moneymovement.Key{"invoice-1"})
	listed := decoded[struct{ Items []payments.Record }](t,
		p.moneymove(t, "", "list", "-state", "completed,paid", "-self", "-o", "json"))
	require.Len(t, listed.Items, 1)
	assert.Equal(t, moneymovement.Key("invoice-1"), listed.Items[0].Key)
	shown := p.moneymove(t, "", "get", "invoice-1").out
	assert.Regexp(t, `(?m)^payout +\S+$`, shown)
	assert.Regexp(t, `(?m)^decided +\S+Z, Zoë, night shift: retry, when it was needs_decision: balance$`, shown)
	none := p.moneymove(t, "", "list", "-account", "cl_other", "-o", "json")
	assert.Equal(t, ended{out: `{"items":[]}` + "\n"}, none)
}

// credit gives the program's account money.
func credit(t *testing.T, p program) {
	t.Helper()
	server := httptest.NewServer(p.host)
	defer server.Close()
	own := p.host.Credentials()
	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: own.Email, Key: own.Key})
	require.NoError(t, err)
	_, err = platform.Self().Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(100), Currency: dapi.USDC})
	require.NoError(t, err)
}

// Nothing can change while the command has the file: it shows what has changed, and ends.
func TestWatchOfAFile(t *testing.T) {
	p := newProgram(t)
	p.run(t, []moneymovement.Key{"invoice-1", "invoice-2"}, p.payment("invoice-1"), p.payment("invoice-2"))
	all := p.moneymove(t, "", "watch", "-o", "json")
	require.Equal(t, app.ExitFine, all.code, all.errors)
	lines := strings.Split(strings.TrimSpace(all.out), "\n")
	require.Len(t, lines, 2)
	var first struct {
		Position string
		Payment  payments.Record
	}
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &first))
	rest := p.moneymove(t, "", "watch", "-after", first.Position, "-o", "json")
	assert.Equal(t, lines[1]+"\n", rest.out)
	assert.Empty(t, p.moneymove(t, "", "watch", "-state", "completed").out)
	one := p.moneymove(t, "", "watch", "invoice-2")
	assert.Equal(t, app.ExitDecision, one.code)
	assert.Regexp(t, `^\S+Z +needs_decision +invoice-2 +10 +USDC +balance\n$`, one.out)
	assert.Contains(t, one.errors, "needs a decision")
	p.moneymove(t, "", "decide", "invoice-1", "retry")
	waits := p.moneymove(t, "", "watch", "invoice-1")
	assert.Equal(t, app.ExitOtherwise, waits.code)
	assert.Contains(t, waits.errors, "payment invoice-1 is accepted, and goes on when the program runs again")
	p.moneymove(t, "", "decide", "invoice-2", "cancel")
	assert.Equal(t, app.ExitOtherwise, p.moneymove(t, "", "watch", "invoice-2").code)
}

func TestNewBoundsKeepTheOthers(t *testing.T) {
	p := newProgram(t)
	credit(t, p)
	none, least := decimal.RequireFromString("0.000001"), decimal.NewFromInt(1)
	p.run(t, []moneymovement.Key{"invoice-1"}, payments.Payment{Key: "invoice-1", Account: payments.OwnAccount,
		Payout: p.payout, Bounds: dapi.Bounds{MaxFee: &none, MinDestinationAmount: &least, DestinationCurrency: "EUR"}})
	got := p.moneymove(t, "", "get", "invoice-1")
	for _, line := range []string{`why +price`, `bound +max_fee`, `refused price +10 USDC for \S+ EUR, fee \S+`} {
		assert.Regexp(t, `(?m)^`+line+`$`, got.out)
	}
	changed := decoded[payments.Record](t,
		p.moneymove(t, "", "decide", "invoice-1", "new-bounds", "-max-fee", "2.50", "-o", "json"))
	assert.Equal(t, "2.5", changed.Bounds.MaxFee.String())
	assert.Equal(t, "1", changed.Bounds.MinDestinationAmount.String())
	assert.Equal(t, "EUR", changed.Bounds.DestinationCurrency)
	wrong := p.moneymove(t, "", "decide", "invoice-1", "new-bounds", "-tolerance", "5")
	assert.Equal(t, app.ExitUsage, wrong.code, wrong.errors)
}

func TestDecisionAboutAPaymentAsksForConfirmation(t *testing.T) {
	p := newProgram(t)
	p.run(t, []moneymovement.Key{"invoice-1"}, p.payment("invoice-1"))
	got := p.moneymove(t, "no\n", "decide", "invoice-1", "was-not-paid")
	assert.Equal(t, app.ExitFailure, got.code)
	assert.Contains(t, got.errors, "payment invoice-1 was not paid. Type yes")
	assert.Contains(t, got.errors, "nothing was decided")
	got = p.moneymove(t, "", "decide", "invoice-1", "was-paid")
	assert.Equal(t, app.ExitUsage, got.code)
	assert.Contains(t, got.errors, "-yes")
	// No money can have left: the store refuses the word, also if the person is sure.
	for _, sure := range []ended{p.moneymove(t, "yes\n", "decide", "invoice-1", "was-not-paid"),
		p.moneymove(t, "", "decide", "invoice-1", "was-paid", "-payout", "po_1", "-yes")} {
		assert.Equal(t, app.ExitRefused, sure.code)
		assert.Contains(t, sure.errors, "is not possible")
	}
}

func TestAFileThatAProgramHasOpen(t *testing.T) {
	p := newProgram(t)
	store, err := sqlite.Open(t.Context(), p.path)
	require.NoError(t, err)
	defer store.Close()
	got := p.moneymove(t, "", "list")
	assert.Equal(t, app.ExitFailure, got.code)
	assert.Contains(t, got.errors, "has "+p.path+" open")
	assert.Contains(t, got.errors, "stop it first")
	assert.Empty(t, got.out)
}

func TestFilesThatHoldNoPayments(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	require.NoError(t, os.WriteFile(text, bytes.Repeat([]byte("text "), 100), 0o600))
	missing := filepath.Join(folder, "missing.db")
	whole := newProgram(t)
	whole.run(t, nil, whole.payment("invoice-1"))
	content, err := os.ReadFile(whole.path)
	require.NoError(t, err)
	truncated := filepath.Join(folder, "truncated.db")
	require.NoError(t, os.WriteFile(truncated, content[:3000], 0o600))
	inside := filepath.Join(folder, "folder")
	require.NoError(t, os.Mkdir(inside, 0o700))
	before, err := os.ReadDir(folder)
	require.NoError(t, err)
	for path, c := range map[string]struct {
		code int
		says string
	}{
		missing:   {app.ExitUsage, "there is no file"},
		text:      {app.ExitFailure, "is not a store of payments"},
		truncated: {app.ExitFailure, "is damaged"},
		inside:    {app.ExitFailure, "is not a regular file"},
		"":        {app.ExitUsage, "-store is missing"},
		"postgres://user:secret@127.0.0.1/payments":         {app.ExitUsage, "has a password"},
		"postgresql://u@127.0.0.1/payments?password=secret": {app.ExitUsage, "has a password"},
		"postgres://u:secret@127.0.0.1:port/payments":       {app.ExitUsage, "is not a URL"},
		"postgres://u@127.0.0.1/payments?sslmode=perhaps":   {app.ExitUsage, "sslmode is invalid"},
		"postgres://u@127.0.0.1:1/payments?sslmode=disable": {app.ExitUnreachable, "cannot be reached"},
		"mysql://u:secret@127.0.0.1/payments":               {app.ExitUsage, "begins with postgres://"},
		"service=ops":                                       {app.ExitUsage, "a database is written as postgres://"},
		"host=db user=x password=secret":                    {app.ExitUsage, "write it as postgres://user@host/database"},
		"host=db user=x PASSWORD = secret":                  {app.ExitUsage, "write it as postgres://user@host/database"},
		"postgres:/u:secret@127.0.0.1/payments":             {app.ExitUsage, "write it as postgres://user@host/database"},
		"postgresql:u:secret@127.0.0.1/payments":            {app.ExitUsage, "write it as postgres://user@host/database"},
		" Postgres:/u:secret@127.0.0.1/payments":            {app.ExitUsage, "write it as postgres://user@host/database"},
		"postgres//u:secret@127.0.0.1/payments":             {app.ExitUsage, "write it as postgres://user@host/database"},
		"user:secret@127.0.0.1/payments":                    {app.ExitUsage, "write it as postgres://user@host/database"},
		"POSTGRES://u:secret@127.0.0.1/payments":            {app.ExitUsage, "begins with postgres://"},
		"postgres://u@127.0.0.1:1/payments?PassWord=secret": {app.ExitUsage, "has a password"},
		"postgres://u@127.0.0.1:1/d?SSLPassword=secret":     {app.ExitUsage, "has a password"},
		"postgres://127.0.0.1:1/d?user=u+password%3Dsecret": {app.ExitUsage, "has a password"},
		"postgres://127.0.0.1:1/d%20password=secret":        {app.ExitUsage, "has a password"},
		"postgres://127.0.0.1:1/d?user=u%20pw%3Dsecret":     {app.ExitUsage, "user name with a blank or ="},
		"postgres://u%20secret@127.0.0.1:1/d":               {app.ExitUsage, "user name with a blank or ="},
		"postgres://u:12/secret@127.0.0.1/d":                {app.ExitUsage, "an @ after its host"},
		"postgres://u:12?secret@127.0.0.1/d":                {app.ExitUsage, "an @ after its host"},
		"postgres://u@127.0.0.1/d?application_name=50%":     {app.ExitUsage, "is not a URL"},
		"postgres://u:12#secret@127.0.0.1/d":                {app.ExitUsage, "an @ after its host"},
	} {
		for _, command := range []string{"list", "get invoice-1", "decide invoice-1 retry", "watch"} {
			got := program{path: path}.moneymove(t, "", strings.Fields(command)...)
			assert.Equal(t, c.code, got.code, path)
			assert.Contains(t, got.errors, c.says)
			assert.NotContains(t, got.errors, "secret")
		}
	}
	after, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Equal(t, before, after, "no lock file is left")
}

func TestWrongCommandLines(t *testing.T) {
	p := newProgram(t)
	p.run(t, nil, p.payment("invoice-1"))
	for line, says := range map[string]string{
		"list -state lost":                                   "give one of accepted",
		"list -state not_paid":                               "give one of accepted",
		"watch -state ended":                                 "give one of accepted",
		"decide invoice-1 retry -timeout -1s":                "-timeout is -1s",
		"list -self -account cl_1":                           "contradict",
		"watch invoice-1 -after 5":                           "leave them out",
		"watch -after elsewhere":                             "is not a position of this store",
		"reconcile -from 1h -to 2h":                          "give a period",
		"reconcile -from yesterday":                          "give a time such as",
		"reconcile":                                          "-url is missing",
		"get":                                                "an argument is missing",
		"get invoice-2":                                      "moneymove payments list",
		"decide invoice-1":                                   "an argument is missing",
		"decide invoice-1 pay":                               "not a decision",
		"decide invoice-2 retry":                             "moneymove payments list",
		"decide invoice-1 retry -author=":                    "author is empty",
		"decide invoice-1 retry -note x":                     "-note is not for retry",
		"decide invoice-1 cancel -payout po_1":               "-payout is not for cancel",
		"decide invoice-1 new-bounds":                        "needs a bound",
		"decide invoice-1 new-bounds -max-fee much":          "-max-fee is \"much\": write an amount",
		"decide invoice-1 new-bounds -tolerance 1e999999999": "-tolerance is \"1e999999999\": write an amount",
	} {
		got := p.moneymove(t, "", strings.Fields(line)...)
		assert.Equal(t, app.ExitUsage, got.code, line)
		assert.Contains(t, got.errors, says, line)
		assert.Empty(t, got.out, line)
	}
}
