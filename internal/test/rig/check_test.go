package rig_test

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// records reads the payments from the store, when no worker has it.
func (w *world) records() map[string]payments.Record {
	w.Helper()
	var store payments.Store
	if w.work.Engine == onSQLite {
		file, err := sqlite.Open(w.Context(), w.work.Store, sqlite.MustExist())
		require.NoError(w, err)
		defer file.Close()
		_, err = file.Check(w.Context())
		require.NoError(w, err)
		store = file
	} else {
		table, err := postgres.Open(w.Context(), w.pool, postgres.Options{})
		require.NoError(w, err)
		store = table
	}
	reader, err := payments.New(store, payments.Services{}, payments.Config{})
	require.NoError(w, err)
	all := map[string]payments.Record{}
	for record, err := range reader.List(w.Context(), payments.ListParams{}) {
		require.NoError(w, err)
		all[string(record.Key)] = record
	}
	return all
}

// check compares the payments with the host's audit, books and requests.
func (w *world) check() {
	w.Helper()
	records := w.records()
	audit := map[string]sandbox.AuditedPayment{}
	for audited := range w.host.Audit() {
		audit[audited.Key] = audited
	}
	var asked decimal.Decimal
	for n := range w.work.All {
		key := string(keyOf(n))
		asked = asked.Add(amountOf(n))
		record, stored := records[key]
		if w.returned[n] && !stored {
			w.complain(key, "Submit has returned, and it is not stored")
		}
		for _, problem := range w.problems(n, record, audit[key]) {
			w.complain(key, problem)
		}
		delete(records, key)
		delete(audit, key)
	}
	assert.Len(w, w.returned, w.work.All, "Submit has returned for each payment")
	assert.Empty(w, records, "payments that nobody submitted")
	assert.Empty(w, audit, "keys at the host that nobody submitted")
	balance := w.host.Ledger().Balances[string(w.work.Client)][string(dapi.USDC)]
	assert.Equal(w, asked.String(), w.balance.Sub(balance).String(), "what left the account")
	assert.Empty(w, w.host.KeysWithTwoBodies())
	w.figures()
}

// complain fails the test for a payment, and notes it for the trace.
func (w *world) complain(key, problem string) {
	w.Helper()
	w.broken[key] = true
	if len(w.broken) <= 10 {
		w.Errorf("payment %s: %s", key, problem)
	}
	w.Fail()
}

// problems says what is wrong with payment n when all faults are over: the record is the store's, and the audit the
// host's.
func (w *world) problems(n int, record payments.Record, audited sandbox.AuditedPayment) (found []string) {
	expect := func(holds bool, problem string) {
		if !holds {
			found = append(found, problem)
		}
	}
	amount := amountOf(n)
	expect(record.State == moneymovement.PaymentCompleted, "the store says "+string(record.State)+reasonOf(record))
	expect(audited.Fundings == 1, "money did not leave once")
	expect(audited.Settlements == 1 && audited.Returns == 0, "money did not arrive once")
	expect(audited.Paid.Equal(amount), "another amount left: "+audited.Paid.String())
	expect(audited.Bodies == 1, "its key had several bodies")
	expect(slices.Contains(audited.PayoutIDs, string(record.PayoutID)), "the store has another payout")
	funded := 0
	for _, approval := range audited.Approvals {
		expect(approval.Amount.Equal(amount), "another amount was signed: "+approval.Amount.String())
		expect(approval.ContactID == string(w.work.Contact), "another contact was signed: "+approval.ContactID)
		expect(!approval.Fee.GreaterThan(maxFee), "a fee above the bound was signed: "+approval.Fee.String())
		if approval.Funded {
			funded++
		}
	}
	expect(funded == 1, "the approvals that moved money are not one")
	return found
}

func reasonOf(record payments.Record) string {
	if record.Reason == nil {
		return ""
	}
	return ": " + record.Reason.Message
}

// event is a request for a payment or, with PostgreSQL, a change of its lease.
type event struct {
	at     time.Time
	worker string // empty if a worker gave the lease back
}

// events returns what happened to each payment, by its key, oldest first.
func (w *world) events() map[string][]event {
	w.Helper()
	keys := map[string]string{} // by payout
	for audited := range w.host.Audit() {
		for _, id := range audited.PayoutIDs {
			keys[id] = audited.Key
		}
	}
	all := map[string][]event{}
	for _, r := range w.host.Raw() {
		if key := keyOfRequest(r.Path, r.Header.Get("Idempotency-Key"), keys); key != "" {
			all[key] = append(all[key], event{at: r.At, worker: r.Header.Get(workerHeader)})
		}
	}
	if w.pool != nil {
		w.leases(all)
	}
	for _, events := range all {
		slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	}
	return all
}

// keyOfRequest returns the key of the payment that a request is for, or "".
func keyOfRequest(at, header string, keys map[string]string) string {
	if path.Base(at) == "payouts" {
		return header
	}
	for segment := range strings.SplitSeq(at, "/") {
		if key := keys[segment]; key != "" {
			return key
		}
	}
	return ""
}

// takeOver returns the longest time between the end of a worker and what another worker did next for a payment that it
// had, and how many payments those were.
func takeOver(all map[string][]event, kills []kill) (longest time.Duration, taken int) {
	killed := map[string]time.Time{}
	for _, k := range kills {
		killed[k.worker] = k.at
	}
	for _, events := range all {
		for i, next := range events {
			if i == 0 || next.worker == "" || next.worker == events[i-1].worker {
				continue
			}
			if end, dead := killed[events[i-1].worker]; dead && next.at.After(end) {
				taken++
				longest = max(longest, next.at.Sub(end))
			}
		}
	}
	return longest, taken
}

// longestTakeOver is how soon payments of a killed worker must go on.
const longestTakeOver = 30 * time.Second

// figures prints what the test did.
func (w *world) figures() {
	w.Helper()
	took := time.Since(w.began)
	longest, taken := takeOver(w.events(), w.kills)
	assert.Less(w, longest, longestTakeOver, "until another worker has a killed worker's payment")
	if w.Failed() {
		w.notes = append(w.notes, "FAILED")
	}
	w.Logf("figures: %d payments on %s, %d requests, %d kills of workers, %d payments taken over, after %s at most; "+
		"took %s %s", w.work.All, w.work.Engine, len(w.host.Raw()), len(w.kills), taken,
		longest.Round(time.Millisecond), took.Round(time.Millisecond), w.notes)
}

// leaseLog notes each change of a lease in the database itself, which also sees what a worker commits as it dies.
const leaseLog = `CREATE TABLE lease_log (key text NOT NULL, worker text NOT NULL, at timestamptz NOT NULL);
CREATE FUNCTION note_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO lease_log VALUES (NEW.key, coalesce(NEW.lease_owner, ''), clock_timestamp());
	RETURN NULL;
END $$;
CREATE TRIGGER note_lease AFTER UPDATE ON {schema}.payments FOR EACH ROW
	WHEN (OLD.lease_owner IS DISTINCT FROM NEW.lease_owner) EXECUTE FUNCTION note_lease()`

// noteLeases begins the log of leases.
func (w *world) noteLeases() {
	w.Helper()
	_, err := w.pool.Exec(w.Context(), strings.ReplaceAll(leaseLog, "{schema}", postgres.DefaultSchema))
	require.NoError(w, err)
}

// leases adds the log of leases to what happened to the payments.
func (w *world) leases(all map[string][]event) {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), "SELECT key, worker, at FROM lease_log")
	require.NoError(w, err)
	defer rows.Close()
	for rows.Next() {
		var key, worker string
		var at time.Time
		require.NoError(w, rows.Scan(&key, &worker, &at))
		all[key] = append(all[key], event{at: at, worker: worker})
	}
	require.NoError(w, rows.Err())
}

// The checks notice each kind of damage, and nothing else.
func TestChecksNoticeEachDamage(t *testing.T) {
	t.Parallel()
	w := &world{T: t, work: work{Contact: "ct_1"}}
	good := func() (payments.Record, sandbox.AuditedPayment) {
		return payments.Record{State: moneymovement.PaymentCompleted, PayoutID: "po_1"}, sandbox.AuditedPayment{
			Bodies: 1, PayoutIDs: []string{"po_1"}, Fundings: 1, Settlements: 1, Paid: amountOf(3),
			Approvals: []sandbox.AuditedApproval{{Amount: amountOf(3), ContactID: "ct_1", Fee: maxFee, Funded: true}}}
	}
	record, audited := good()
	assert.Empty(t, w.problems(3, record, audited))
	for name, damage := range map[string]func(*payments.Record, *sandbox.AuditedPayment){
		"paid twice":     func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Fundings = 2 },
		"not paid":       func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Fundings = 0 },
		"did not arrive": func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Settlements = 0 },
		"came back":      func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Returns = 1 },
		"another amount": func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Paid = amountOf(4) },
		"two bodies":     func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Bodies = 2 },
		"another payout": func(r *payments.Record, _ *sandbox.AuditedPayment) { r.PayoutID = "po_2" },
		"in doubt": func(r *payments.Record, _ *sandbox.AuditedPayment) {
			r.State = moneymovement.PaymentInDoubt
		},
		"signed more":      func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Approvals[0].Amount = amountOf(4) },
		"signed to others": func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Approvals[0].ContactID = "ct_2" },
		"above the bound": func(_ *payments.Record, a *sandbox.AuditedPayment) {
			a.Approvals[0].Fee = maxFee.Add(decimal.New(1, -2))
		},
		"funded unsigned": func(_ *payments.Record, a *sandbox.AuditedPayment) { a.Approvals = nil },
	} {
		record, audited := good()
		damage(&record, &audited)
		assert.Len(t, w.problems(3, record, audited), 1, name)
	}
}

// The longest take-over is that of the payment that waited longest, from the kill on.
func TestTakeoverTimeIsMeasured(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	all := map[string][]event{
		"quick":        {{at(1), "a"}, {at(4), "b"}},
		"slow":         {{at(2), "a"}, {at(9), "b"}, {at(30), "c"}},
		"ended":        {{at(1), "a"}},
		"another":      {{at(1), "a"}, {at(2), "b"}, {at(60), "c"}},
		"given back":   {{at(1), "a"}, {at(2), ""}, {at(60), "c"}},
		"taken twice":  {{at(2), "a"}, {at(8), "d"}, {at(14), "b"}},
		"taken before": {{at(1), "a"}, {at(2), "c"}},
	}
	longest, taken := takeOver(all, []kill{{at: at(3), worker: "a"}, {at: at(9), worker: "d"}})
	assert.Equal(t, 6*time.Second, longest)
	assert.Equal(t, 4, taken)
}
