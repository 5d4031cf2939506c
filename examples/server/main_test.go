package main

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// TestMain runs the program in the process that a test starts.
func TestMain(m *testing.M) {
	if program.StartedAgain() {
		main()
	}
	os.Exit(m.Run())
}

func TestAStopInTheMiddleOfAPaymentLosesNothing(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	ledger := rehearsal.Run(t, run, nil,
		"first start", "-1: 200, 12.5 is paid po_", "SIGTERM", "-2: 202, 7.25 is in_doubt po_",
		"stopped; payments in doubt in the journal: 1", "second start", "took up what was in doubt",
		"-1: 200, 12.5 is paid po_", "-2: 200, 7.25 is paid po_", "the ledger, newest first")
	assert.Equal(t, 2, strings.Count(ledger, "payout  "), "nothing was paid twice:\n%s", ledger)
}

func TestRunsOnAHostThatFlagsName(t *testing.T) {
	host, flags := rehearsal.Host(t)
	rehearsal.Run(t, run, flags, "second start", "-1: 200, 12.5 is paid po_", "-2: 200, 7.25 is paid po_")
	assert.Len(t, rehearsal.Left(host, "po_"), 2)
}

// office is a client with 50 USDC and a contact, at a host.
type office struct {
	host    *sandbox.Host
	flags   []string
	account *dapi.Account
	client  dapi.ClientID
	contact dapi.ContactID
}

func newOffice(t *testing.T) *office {
	t.Helper()
	host, flags := rehearsal.Host(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.ClientReadyAfter = 0 }))
	platform, err := dapi.NewIntegrator(flags[1],
		dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key})
	require.NoError(t, err)
	client, err := platform.Clients.Create(t.Context(),
		dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	require.NoError(t, err)
	account := platform.For(client.ID)
	_, err = account.Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(50), Currency: dapi.USDC})
	require.NoError(t, err)
	contact, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Supplier",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Supplier"}})})
	require.NoError(t, err)
	return &office{host, flags, account, client.ID, contact.ID}
}

// body asks for a payment of 12.50.
func (o *office) body(id string) string {
	return `{"id":"` + id + `","contactId":"` + string(o.contact) + `","amount":"12.50"}`
}

func TestASignalStopsTheProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs SIGTERM, which Windows does not have; make check on any other system runs it")
	}
	o := newOffice(t)
	journal := filepath.Join(t.TempDir(), "payments.jsonl")
	path, err := os.Executable()
	require.NoError(t, err)
	process := exec.CommandContext(t.Context(), path, append(o.flags, "-listen", "127.0.0.1:0", "-journal", journal,
		"-client", string(o.client))...)
	process.Env = append(os.Environ(), "MONEYMOVEMENT_EXAMPLE_STARTED_AGAIN=1")
	output, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	lines := bufio.NewScanner(output)
	var address string
	for address == "" && lines.Scan() {
		address = regexp.MustCompile(`http://127\.0\.0\.1:\d+;`).FindString(lines.Text())
	}
	require.NotEmpty(t, address)

	slow := o.host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.Delay(200*time.Millisecond))
	paid := make(chan int, 1)
	go func() {
		response, err := http.Post(strings.TrimSuffix(address, ";")+"/pay", "application/json",
			strings.NewReader(o.body("1")))
		if assert.NoError(t, err) {
			response.Body.Close()
			paid <- response.StatusCode
		}
		close(paid)
	}()
	require.Eventually(t, func() bool { return slow.Consumed() == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, process.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, http.StatusOK, <-paid, "the payment under way has time to end")
	var said string
	for lines.Scan() {
		said += lines.Text()
	}
	require.NoError(t, process.Wait(), said)
	assert.Contains(t, said, "stopped; payments in doubt for the next start: 0")
	content, err := os.ReadFile(journal)
	require.NoError(t, err)
	assert.Contains(t, string(content), `"state":"paid"`)
}

func TestAConnectionWithoutARequestDoesNotKeepTheServer(t *testing.T) {
	s, listener := newServer(t), listen(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, listener) }()
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)
	defer connection.Close()
	response, err := http.Post("http://"+listener.Addr().String()+"/pay", "application/json", strings.NewReader("{"))
	require.NoError(t, err) // so the server has accepted the connection that came before
	require.NoError(t, response.Body.Close())
	stop()
	assert.NoError(t, <-ended)
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return listener
}

func TestAServerThatIsStoppingAcceptsNoPayment(t *testing.T) {
	o, s := newOffice(t), newServer(t)
	s.stopping = true
	status, said := ask(t, s, o.body("1"))
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, said, "this request paid nothing")
	assert.Empty(t, s.journal.latest)
}

func TestOneRequestAtATimePaysAnID(t *testing.T) {
	o, s := newOffice(t), newServer(t)
	require.NoError(t, s.begin("1"))
	status, said := ask(t, s, o.body("1"))
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, said, "another request is paying this id")
}

func TestAnIDKeepsItsTerms(t *testing.T) {
	o, s := newOffice(t), newServer(t)
	s.account = o.account
	status, _ := ask(t, s, o.body("1"))
	require.Equal(t, http.StatusOK, status)
	status, _ = ask(t, s, strings.Replace(o.body("1"), "12.50", "13", 1))
	assert.Equal(t, http.StatusConflict, status)
	rehearsal.PaidOnce(t, o.host, "12.5")
}

func TestARefusedPaymentIsPaidOnceItsCauseIsGone(t *testing.T) {
	o, s := newOffice(t), newServer(t)
	s.account = o.account
	o.host.Arm(http.MethodPost, "/payouts", sandbox.Respond(http.StatusConflict, "payout_not_fundable"))
	status, said := ask(t, s, o.body("1"))
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, said, `"state":"needs_decision"`)
	status, _ = ask(t, s, o.body("1"))
	assert.Equal(t, http.StatusOK, status)
	rehearsal.PaidOnce(t, o.host, "12.5")
}

// The service may have paid with the key and forgotten it, so asking again must never make the payment a first use.
func TestAPaymentThatMayBePaidIsNotPaidAnewAfterAWeek(t *testing.T) {
	o, s := newOffice(t), newServer(t)
	s.account = o.account
	require.NoError(t, s.journal.write(payment{ID: "1", ContactID: o.contact,
		Amount: decimal.RequireFromString("12.50"), State: moneymovement.PaymentInDoubt,
		History: dapi.History{FirstUsed: time.Now().Add(-8 * 24 * time.Hour)}}))
	for range 3 {
		status, said := ask(t, s, o.body("1"))
		assert.Equal(t, http.StatusUnprocessableEntity, status)
		assert.Contains(t, said, `"state":"needs_decision"`)
	}
	assert.Empty(t, rehearsal.Left(o.host, "po_"))
}

func TestBodiesThatCannotBeRead(t *testing.T) {
	s := newServer(t)
	for _, body := range []string{"", "{", `{"amount":"x","id":"1"}`, `{"amount":"1"}`, strings.Repeat(" ", 2000)} {
		status, _ := ask(t, s, body)
		assert.Equal(t, http.StatusBadRequest, status, body)
	}
	assert.Empty(t, s.journal.latest)
}

func newServer(t *testing.T) *server {
	t.Helper()
	journal, err := openJournal(filepath.Join(t.TempDir(), "payments.jsonl"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, journal.close()) })
	return &server{journal: journal}
}

func ask(t *testing.T, s *server, body string) (status int, said string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	s.accept(t.Context(), recorder,
		httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/pay", strings.NewReader(body)))
	return recorder.Code, recorder.Body.String()
}

func TestAJournalThatBrokeOffGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "payments.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"id":"1","amount":"1","state":"in_doubt"}`+"\n"+
		`{"id":"2","amount":"1","state":"in_doubt"}`+"\n"+`{"id":"1","amount":"1","state":"paid"}`+"\n"+`{"id":"3`),
		0o600))
	for range 2 {
		j, err := openJournal(path)
		require.NoError(t, err)
		left := j.inDoubt()
		require.Len(t, left, 1)
		assert.Equal(t, "2", left[0].ID)
		require.NoError(t, j.write(payment{ID: "4", State: moneymovement.PaymentPaid}))
		require.NoError(t, j.close())
	}
	require.NoError(t, os.WriteFile(path, []byte("no journal\n"), 0o600))
	_, err := openJournal(path)
	require.ErrorContains(t, err, path)
}
