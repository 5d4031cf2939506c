package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// office is a host, and the file of payments of one run.
type office struct {
	host    *sandbox.Host
	flags   []string
	store   string
	confirm atomic.Pointer[func()] // called for each confirm that arrives
}

func newOffice(t *testing.T) *office {
	o := &office{store: filepath.Join(t.TempDir(), "payroll.db")}
	o.host, o.flags = rehearsal.HostBehind(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if call := o.confirm.Load(); call != nil && strings.HasSuffix(r.URL.Path, "/confirm") {
				(*call)()
			}
			next.ServeHTTP(w, r)
		})
	})
	o.flags = append(o.flags, "-run", "2026-11", "-store", o.store)
	return o
}

func (o *office) pay(ctx context.Context, more ...string) (told string, err error) {
	var out bytes.Buffer
	err = run(ctx, slices.Concat(o.flags, more), &out)
	return out.String(), err
}

// interruptAfter ends a start after this number of confirms, as Ctrl-C does.
func (o *office) interruptAfter(t *testing.T, confirms int32) (told string, err error) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var seen atomic.Int32
	call := func() {
		if seen.Add(1) == confirms {
			interrupt()
		}
	}
	o.confirm.Store(&call)
	defer o.confirm.Store(nil)
	return o.pay(ctx, "-workers", "2")
}

// everybodyOnce fails the test unless each amount of the sample left exactly once.
func (o *office) everybodyOnce(t *testing.T) {
	t.Helper()
	assert.ElementsMatch(t, []string{"21.4", "24.1", "18.75", "22.6", "19.9", "25.35", "20.15", "23.05"}, o.left())
}

func (o *office) left() (amounts []string) {
	for _, amount := range rehearsal.Left(o.host, "po_") {
		amounts = append(amounts, amount.String())
	}
	return amounts
}

// states returns the stored state of each person.
func (o *office) states(t *testing.T) map[string]moneymovement.PaymentState {
	t.Helper()
	found := map[string]moneymovement.PaymentState{}
	o.open(t, func(processor *payments.Processor) {
		for record, err := range processor.List(t.Context(), payments.ListParams{}) {
			require.NoError(t, err)
			found[record.Metadata["id"]] = record.State
		}
	})
	return found
}

// open opens the file of payments, with a processor that cannot pay.
func (o *office) open(t *testing.T, use func(*payments.Processor)) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), o.store)
	require.NoError(t, err)
	key, err := signing.Generate()
	require.NoError(t, err)
	nobody, err := dapi.NewIntegrator("https://host.example", dapi.Developer{Email: "ops@example.com", Key: key})
	require.NoError(t, err)
	processor, err := payments.New(store, payments.Integrator(nobody), payments.Config{InFlight: 1})
	require.NoError(t, err)
	use(processor)
	require.NoError(t, store.Close())
}

// forget makes the file say only that these payments were sent at a time, and nothing of what came of them.
func (o *office) forget(t *testing.T, sent time.Time, ids ...string) {
	t.Helper()
	var all []payments.Payment
	o.open(t, func(processor *payments.Processor) {
		for record, err := range processor.List(t.Context(), payments.ListParams{}) {
			require.NoError(t, err)
			if slices.Contains(ids, record.Metadata["id"]) {
				all = append(all, payments.Payment{Key: record.Key, Account: record.Account, Payout: *record.Payout,
					Bounds: record.Bounds, Metadata: record.Metadata, FirstUsed: sent})
			}
		}
	})
	require.Len(t, all, len(ids))
	o.store = filepath.Join(t.TempDir(), "payroll.db")
	o.flags[len(o.flags)-1] = o.store
	o.open(t, func(processor *payments.Processor) {
		for _, payment := range all {
			_, err := processor.Submit(t.Context(), payment)
			require.NoError(t, err)
		}
	})
}

func (o *office) bookings() (n int) {
	for _, request := range o.host.Requests() {
		if request.Operation == "BookPayout" {
			n++
		}
	}
	return n
}

// TestMain runs the program if the program, under test, started itself.
func TestMain(m *testing.M) {
	if program.StartedAgain() {
		main()
	}
	os.Exit(m.Run())
}

func TestTheProgramKillsItselfAndPaysTheRest(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	t.Setenv("TMPDIR", t.TempDir())
	rehearsal.Run(t, run, nil,
		"first start: another process, which is killed when payment 6 has left", "run sample: 8 people",
		"killed: ", "payments have left, and the program has seen the response to ",
		"second start: ", " paying", "completed  8  175.30 USDC  arrived",
		"the host's books: 8 payouts for 8 people, 175.30 USDC in all; nobody was paid twice")
}

func TestPaysEverybody(t *testing.T) {
	o := newOffice(t)
	told, err := o.pay(t.Context())
	require.NoError(t, err)
	rehearsal.Told(t, told, "run 2026-11: 8 people, 175.3 USDC in all", "has 0 of 8 people:\n    8 unsent\n• summary:",
		"completed  8  175.30 USDC  arrived")
	o.everybodyOnce(t)

	before := o.bookings()
	_, err = o.pay(t.Context())
	require.NoError(t, err)
	assert.Equal(t, before, o.bookings(), "who is paid is not asked about again")
}

func TestAnInterruptedRunGoesOnAndPaysNobodyTwice(t *testing.T) {
	o := newOffice(t)
	told, err := o.interruptAfter(t, 3)
	require.ErrorContains(t, err, "interrupted when")
	rehearsal.Told(t, told, "summary:", "not begun; start again")
	assert.NotContains(t, []moneymovement.PaymentState{moneymovement.PaymentPaid, moneymovement.PaymentCompleted},
		o.states(t)["e-08"])
	first := len(o.left())
	assert.GreaterOrEqual(t, first, 3, "what was under way finished")
	assert.Less(t, first, 8)

	told, err = o.pay(t.Context())
	require.NoError(t, err)
	rehearsal.Told(t, told, "completed  8  175.30 USDC  arrived")
	o.everybodyOnce(t)
	for id, state := range o.states(t) {
		assert.Equal(t, moneymovement.PaymentCompleted, state, id)
	}
}

// A price that is too high pays nobody, and the next start tries again.
func TestAPriceThatIsTooHighIsNotPaid(t *testing.T) {
	o := newOffice(t)
	// the refused price is over before the second start may book anew
	short := func(s *sandbox.Settings) { s.QuoteLifetime = sandbox.Duration(8 * time.Second) }
	require.NoError(t, o.host.Configure(short))
	bound := maxFee
	maxFee = decimal.RequireFromString("0.01")
	defer func() { maxFee = bound }()
	_, err := o.pay(t.Context())
	require.EqualError(t, err, "0 of 8 are paid")
	for id, state := range o.states(t) {
		assert.Equal(t, moneymovement.PaymentNeedsDecision, state, id)
	}
	assert.Empty(t, o.left())
	maxFee = bound
	_, err = o.pay(t.Context())
	require.NoError(t, err)
	o.everybodyOnce(t)
}

// A file from a backup says that payments were sent, and not what came of them. Whoever was not in it yet is paid.
func TestAForgetfulRunGoesOnAndPaysNobodyTwice(t *testing.T) {
	o := newOffice(t)
	_, err := o.pay(t.Context())
	require.NoError(t, err)
	o.forget(t, time.Now(), "e-01", "e-02", "e-05")
	assert.Equal(t, map[string]moneymovement.PaymentState{"e-01": moneymovement.PaymentInDoubt,
		"e-02": moneymovement.PaymentInDoubt, "e-05": moneymovement.PaymentInDoubt}, o.states(t))

	_, err = o.pay(t.Context())
	require.NoError(t, err)
	o.everybodyOnce(t)
	assert.Len(t, o.states(t), 8)
}

func TestLostResponsesPayNobodyTwice(t *testing.T) {
	o := newOffice(t)
	lost := o.host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.DropAfterCommit().Times(3))
	_, err := o.pay(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 3, lost.Consumed())
	o.everybodyOnce(t)
}

func TestWhoIsRefusedIsPaidOnceThatIsMended(t *testing.T) {
	o := newOffice(t)
	require.NoError(t,
		o.host.Configure(func(s *sandbox.Settings) { s.PayoutMethodsDisabled = []string{string(dapi.BankMethodSEPA)} }))
	told, err := o.pay(t.Context())
	require.ErrorContains(t, err, "0 of 8 are paid")
	rehearsal.Told(t, told, "needs_decision  8  175.30 USDC",
		"e-01: BookPayout: 409 contact_not_payable")
	assert.Empty(t, o.left())

	require.NoError(t, o.host.Configure(func(s *sandbox.Settings) { s.PayoutMethodsDisabled = nil }))
	_, err = o.pay(t.Context())
	require.NoError(t, err)
	o.everybodyOnce(t)
}

// A refused call says nothing about the calls before it: an earlier start may have paid.
func TestARefusalDoesNotSettleWhatIsInDoubt(t *testing.T) {
	o := newOffice(t)
	_, err := o.interruptAfter(t, 1)
	require.Error(t, err)
	o.forget(t, time.Now(), "e-01")
	require.NoError(t,
		o.host.Configure(func(s *sandbox.Settings) { s.PayoutMethodsDisabled = []string{string(dapi.BankMethodSEPA)} }))
	_, err = o.pay(t.Context(), "-settle", "1s")
	require.ErrorContains(t, err, "of 8 are paid")
	states := o.states(t)
	assert.Contains(t, []moneymovement.PaymentState{moneymovement.PaymentInDoubt, moneymovement.PaymentPaid,
		moneymovement.PaymentCompleted}, states["e-01"])
	assert.Equal(t, moneymovement.PaymentNeedsDecision, states["e-08"])

	require.NoError(t, o.host.Configure(func(s *sandbox.Settings) { s.PayoutMethodsDisabled = nil }))
	_, err = o.pay(t.Context())
	require.NoError(t, err)
	o.everybodyOnce(t)
}

func TestAKeyThatMayNotProtectAnyMoreIsNotUsed(t *testing.T) {
	o := newOffice(t)
	_, err := o.interruptAfter(t, 1)
	require.Error(t, err)
	o.forget(t, time.Now().Add(-7*24*time.Hour), "e-01")
	for range 2 {
		_, err := o.pay(t.Context()) // which finds e-01 in the ledger
		require.NoError(t, err)
		o.everybodyOnce(t) // e-01 by the first start, the others by the second
	}
}

func TestPaymentsHaveToAgreeWithTheFile(t *testing.T) {
	o := newOffice(t)
	_, err := o.pay(t.Context())
	require.NoError(t, err)
	before := o.bookings()

	changed := filepath.Join(t.TempDir(), "changed.csv")
	require.NoError(t, os.WriteFile(changed, []byte(strings.Replace(sample, "21.40", "31.40", 1)), 0o600))
	_, err = o.pay(t.Context(), "-file", changed)
	require.ErrorContains(t, err, "line 2: e-01 is already completed with 21.4 to DE89370400440532013000")

	require.NoError(t,
		os.WriteFile(changed, []byte(strings.Join(slices.Delete(strings.SplitAfter(sample, "\n"), 1, 2), "")), 0o600))
	_, err = o.pay(t.Context(), "-file", changed)
	require.ErrorContains(t, err, "e-01 is already completed, and is no longer in the file")

	_, err = o.pay(t.Context(), "-client", "cl_another")
	require.ErrorContains(t, err, "not cl_another")
	assert.Equal(t, before, o.bookings())
}

func TestAFileWithMistakesPaysNobody(t *testing.T) {
	const header = "id,name,iban,amount,reference\n"
	for name, c := range map[string]struct{ content, says string }{
		"empty":          {header, "no people in it"},
		"no such column": {"id,name,iban,amount\n", `no column "reference"`},
		"an id twice": {header + "1,A,DE89370400440532013000,1,\n1,B,BE68539007547034,2,\n",
			`line 3: id "1" is on line 2 as well`},
		"a slip in a IBAN": {header + "1,A,DE89370400440532013001,1,\n", "line 2: iban has a mistake"},
		"nothing to pay":   {header + "1,A,DE89370400440532013000,0.00,\n", "line 2: amount"},
		"a minus":          {header + "1,A,DE89370400440532013000,-5,\n", "line 2: amount"},
		"a comma":          {header + "1,A,DE89370400440532013000,\"1,50\",\n", "line 2: amount"},
		"too fine":         {header + "1,A,DE89370400440532013000,1.0000001,\n", "line 2: amount"},
		"no id, no name":   {header + ",,DE89370400440532013000,1,\n", "line 2: id and name"},
		"a long reference": {header + "1,A,DE89370400440532013000,1," + strings.Repeat("é", 141) + "\n",
			"a reference 140"},
		"a cell too many": {header + "1,A,DE89370400440532013000,1,x,y\n", "wrong number of fields"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			file := filepath.Join(t.TempDir(), "people.csv")
			require.NoError(t, os.WriteFile(file, []byte(c.content), 0o600))
			_, err := o.pay(t.Context(), "-file", file)
			require.ErrorContains(t, err, c.says)
			assert.Empty(t, o.host.Requests(), "nothing was sent")
			assert.NoFileExists(t, o.store)
		})
	}
}

func TestProgressIsForTerminals(t *testing.T) {
	for terminal, shows := range map[bool]string{true: "paying 100% |██████████████████████████████| (2/2)",
		false: ""} {
		var out bytes.Buffer
		done, end := progress(&out, 2, terminal)
		done()
		done()
		end()
		assert.Contains(t, out.String(), shows)
		assert.Equal(t, terminal, out.Len() > 0)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer file.Close()
	assert.False(t, isTerminal(file))
}

func TestAmountsAddUp(t *testing.T) {
	people, err := readPeople(strings.NewReader(sample))
	require.NoError(t, err)
	sum := decimal.Zero
	for _, p := range people {
		sum = sum.Add(p.amount)
	}
	assert.Equal(t, "175.3", sum.String())
}
