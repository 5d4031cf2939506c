package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestALostResponseA429AndARestart(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	rehearsal.Run(t, run, nil,
		"onboarded client cl_", "the first invoice", "-1  12.50  paid  arrived: true",
		"the second invoice", "-2  7.25   in_doubt  arrived: false",
		"starts again", "-2  7.25   paid  arrived: true",
		"the third invoice", "-3  9.75   ended  arrived: false",
		"0 differences", "refund ", "payout ", "payout ", "payout ", "deposit ")
}

func TestRunsOnAHostThatFlagsName(t *testing.T) {
	_, flags := rehearsal.Host(t)
	rehearsal.Run(t, run, flags, "-2  7.25   paid", "-3  9.75   ended", "0 differences")
}

// office is a backend with one unpaid invoice of 12.50, a client with 50 USDC, and the host.
type office struct {
	*backend
	host   *sandbox.Host
	file   string
	client dapi.ClientID
	flags  []string
}

func newOffice(t *testing.T) *office {
	t.Helper()
	host, flags := rehearsal.Host(t)
	o := &office{host: host, flags: flags, file: filepath.Join(t.TempDir(), "rows.json")}
	o.restart(t)
	client, err := o.onboard(t.Context(), "acme@example.com", "Acme")
	require.NoError(t, err)
	o.client = client.ID
	supplier, err := prepare(t.Context(), o.platform.For(client.ID))
	require.NoError(t, err)
	require.NoError(t, o.rows.add(payment{ID: "42", Client: client.ID, Contact: supplier,
		Amount: decimal.RequireFromString("12.50")}))
	return o
}

// restart makes a new backend from the rows in the file.
func (o *office) restart(t *testing.T) {
	t.Helper()
	platform, err := dapi.NewIntegrator(o.flags[1],
		dapi.Developer{Email: o.host.Credentials().Email, Key: o.host.Credentials().Key},
		moneymovement.WithPolling(time.Millisecond, 20*time.Millisecond),
		moneymovement.WithRetries(moneymovement.RetryPolicy{WaitMin: time.Millisecond}))
	require.NoError(t, err)
	rows, err := openStore(o.file)
	require.NoError(t, err)
	o.backend = &backend{platform: platform, rows: rows, maxFee: decimal.NewFromInt(1), now: o.host.Now}
}

// arrived checks that the invoice is paid, once, and has arrived.
func (o *office) arrived(t *testing.T) {
	t.Helper()
	row := o.rows.all()[0]
	assert.Equal(t, moneymovement.PaymentPaid, row.State, row.Note)
	assert.True(t, row.Arrived)
	rehearsal.PaidOnce(t, o.host, "12.5")
	differences, err := o.reconcile(t.Context(), o.client)
	require.NoError(t, err)
	assert.Empty(t, differences)
}

func TestFailuresPayTheInvoiceOnce(t *testing.T) {
	limited := sandbox.Respond(http.StatusTooManyRequests, "rate_limited").WithHeader("Retry-After", "300")
	for name, faults := range map[string][]sandbox.Fault{
		"a lost request":            {sandbox.DropBefore()},
		"a lost response":           {sandbox.DropAfterCommit()},
		"a lost response and a 429": {sandbox.DropAfterCommit(), limited},
		"a 429":                     {limited},
		"a proxy's page":            {sandbox.Garbage().AfterCommit()},
		"a failure that does not end soon": {sandbox.Respond(http.StatusInternalServerError, "internal_error").
			Times(9)},
		"a refusal": {sandbox.Respond(http.StatusForbidden, "forbidden")},
	} {
		for _, path := range []string{"/payouts", "/payouts/{payoutId}/confirm"} {
			t.Run(name+" at "+path, func(t *testing.T) {
				o := newOffice(t)
				for _, fault := range faults {
					o.host.Arm(http.MethodPost, path, fault)
				}
				for range 10 {
					require.NoError(t, o.work(t.Context()))
					if row := o.rows.all()[0]; row.Arrived {
						break
					}
					o.host.Advance(10 * time.Minute)
					o.restart(t)
				}
				o.arrived(t)
			})
		}
	}
}

func TestNothingIsSentBeforeTheServiceAllowsIt(t *testing.T) {
	o := newOffice(t)
	o.host.Arm(http.MethodPost, "/payouts", sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
		WithHeader("Retry-After", "300"))
	require.NoError(t, o.work(t.Context()))
	row := o.rows.all()[0]
	assert.Equal(t, moneymovement.PaymentNotPaid, row.State)
	assert.WithinDuration(t, time.Now().Add(5*time.Minute), row.NotBefore, time.Minute)

	before := len(o.host.Requests())
	require.NoError(t, o.work(t.Context()))
	assert.Len(t, o.host.Requests(), before)
	o.host.Advance(6 * time.Minute)
	require.NoError(t, o.work(t.Context()))
	o.arrived(t)
}

func TestAPersonDecidesAboutAPriceThatIsTooHigh(t *testing.T) {
	o := newOffice(t)
	o.maxFee = decimal.RequireFromString("0.01")
	require.NoError(t, o.work(t.Context()))
	assert.Equal(t, moneymovement.PaymentNeedsDecision, o.rows.all()[0].State)
	before := len(o.host.Requests())
	require.NoError(t, o.work(t.Context()))
	assert.Len(t, o.host.Requests(), before, "it is not tried again")
	assert.Empty(t, rehearsal.Left(o.host, "po_"))
}

func TestReconciliationFindsWhatDiffers(t *testing.T) {
	o := newOffice(t)
	require.NoError(t, o.work(t.Context()))
	o.arrived(t)
	row := o.rows.all()[0]
	_, err := o.platform.For(o.client).Payouts.Pay(t.Context(),
		dapi.PayoutCreate{ContactID: row.Contact, Amount: decimal.NewFromInt(3), Currency: dapi.USDC}, "by-hand",
		dapi.PayTerms{})
	require.NoError(t, err)
	row.Amount = decimal.NewFromInt(11)
	require.NoError(t, o.rows.put(row))
	differences, err := o.reconcile(t.Context(), o.client)
	require.NoError(t, err)
	require.Len(t, differences, 2)
	assert.Equal(t, "42: the row says paid 11, the ledger 12.5", differences[0])
	assert.Regexp(t, `^po_\w+: 3 has left, and there is no row for it$`, differences[1])
}

func TestRowsOutliveTheProcess(t *testing.T) {
	o := newOffice(t)
	require.NoError(t, o.work(t.Context()))
	o.restart(t)
	o.arrived(t)
	require.NoError(t, o.rows.add(payment{ID: "42"}))
	o.arrived(t) // a row that is there stays as it is

	require.NoError(t, os.WriteFile(o.file, []byte("{"), 0o600))
	_, err := openStore(o.file)
	require.Error(t, err)
}
