package payments

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func dec(text string) *decimal.Decimal {
	d := decimal.RequireFromString(text)
	return &d
}

func quote(zone *time.Location) *dapi.Quote {
	return &dapi.Quote{SourceAmount: *dec("25"), SourceCurrency: "USDC", DestinationAmount: *dec("22.4"),
		DestinationCurrency: "EUR", Rate: *dec("0.9"), Fee: *dec("0.5"), ExpiresAt: start.In(zone)}
}

func wholePayment() Payment {
	return Payment{
		Key: "k", Account: "cl_1",
		Payout: dapi.PayoutCreate{Amount: *dec("12.5"), ContactID: "ct_1", Currency: dapi.USDC,
			DocumentIDs: []string{"doc_1", "doc_2"}, PaymentReference: "ref", Purpose: "rent"},
		Bounds: dapi.Bounds{MaxFee: dec("1"), MinDestinationAmount: dec("10"), DestinationCurrency: "EUR",
			NoWorseThan: quote(time.UTC), QuoteTolerance: *dec("0.01")},
		Deadline: start.Add(time.Hour), Metadata: map[string]string{"invoice": "42", "row": "7"},
	}
}

func wholeEscrow() EscrowPayment {
	return EscrowPayment{Key: "k", Account: "cl_1", Escrow: dapi.EscrowCreate{Amount: *dec("12.5"), Currency: dapi.USDC,
		Payee: testPayee, ApproveWithin: "1h", HoldFor: "2d", RefundableFor: "3d", Memo: "m"}}
}

func wholeAction() EscrowAction {
	return EscrowAction{Key: "k", Account: "cl_1", EscrowID: "es_1", Escrow: wholeEscrow().Escrow,
		Action: dapi.EscrowActionTypeRelease}
}

func prepared(t *testing.T, s Submission) Record {
	t.Helper()
	record, err := Prepare(s, start)
	require.NoError(t, err)
	return record
}

func changed[S any](s S, change func(*S)) S {
	change(&s)
	return s
}

func TestEqualTermsHaveEqualDigests(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	base := prepared(t, wholePayment()).Digest
	for name, change := range map[string]func(*Payment){
		"an amount with another scale": func(p *Payment) { p.Payout.Amount = *dec("12.50") },
		"an amount with an exponent":   func(p *Payment) { p.Payout.Amount = *dec("125e-1") },
		"a bound with another scale":   func(p *Payment) { p.Bounds.MaxFee = dec("1.00") },
		"a quote in another zone":      func(p *Payment) { p.Bounds.NoWorseThan = quote(zone) },
		"another deadline":             func(p *Payment) { p.Deadline = start.Add(2 * time.Hour) },
		"other metadata":               func(p *Payment) { p.Metadata = nil },
		"a key that was used":          func(p *Payment) { p.FirstUsed = start.Add(-time.Hour) },
	} {
		assert.Equal(t, base, prepared(t, changed(wholePayment(), change)).Digest, name)
	}
}

func TestOtherTermsHaveOtherDigests(t *testing.T) {
	digests := map[string]string{}
	add := func(name string, s Submission) {
		digest := prepared(t, s).Digest
		assert.Empty(t, digests[digest], "%s has the digest of %s", name, digests[digest])
		digests[digest] = name
	}
	add("the payment", wholePayment())
	for name, change := range map[string]func(*Payment){
		"account":       func(p *Payment) { p.Account = "cl_2" },
		"own account":   func(p *Payment) { p.Account = OwnAccount },
		"amount":        func(p *Payment) { p.Payout.Amount = *dec("12.51") },
		"contact":       func(p *Payment) { p.Payout.ContactID = "ct_2" },
		"currency":      func(p *Payment) { p.Payout.Currency = dapi.EURC },
		"documents":     func(p *Payment) { p.Payout.DocumentIDs = []string{"doc_2", "doc_1"} },
		"fewer":         func(p *Payment) { p.Payout.DocumentIDs = []string{"doc_1"} },
		"reference":     func(p *Payment) { p.Payout.PaymentReference = "ref2" },
		"purpose":       func(p *Payment) { p.Payout.Purpose = "" },
		"from chain":    func(p *Payment) { p.Payout.FromChainID = 8453 },
		"to chain":      func(p *Payment) { p.Payout.ToChainID = 8453 },
		"fee":           func(p *Payment) { p.Bounds.MaxFee = dec("2") },
		"no fee":        func(p *Payment) { p.Bounds.MaxFee = dec("0") },
		"any fee":       func(p *Payment) { p.Bounds.MaxFee = nil },
		"least":         func(p *Payment) { p.Bounds.MinDestinationAmount = dec("10.01") },
		"its currency":  func(p *Payment) { p.Bounds.DestinationCurrency = "USD" },
		"a quote":       func(p *Payment) { p.Bounds.NoWorseThan.DestinationAmount = *dec("22.5") },
		"no quote":      func(p *Payment) { p.Bounds.NoWorseThan = nil },
		"the tolerance": func(p *Payment) { p.Bounds.QuoteTolerance = *dec("0.02") },
	} {
		add(name, changed(wholePayment(), change))
	}
	add("escrow", wholeEscrow())
	for name, change := range map[string]func(*EscrowPayment){
		"account of the escrow": func(p *EscrowPayment) { p.Account = OwnAccount },
		"amount of the escrow":  func(p *EscrowPayment) { p.Escrow.Amount = *dec("12.51") },
		"window of the escrow":  func(p *EscrowPayment) { p.Escrow.HoldFor = "4d" },
		"memo of the escrow":    func(p *EscrowPayment) { p.Escrow.Memo = "" },
	} {
		add(name, changed(wholeEscrow(), change))
	}
	add("action", wholeAction())
	add("another action", changed(wholeAction(), func(p *EscrowAction) { p.Action = dapi.EscrowActionTypeRefund }))
	add("of another escrow", changed(wholeAction(), func(p *EscrowAction) { p.EscrowID = "es_2" }))
	add("transfer", TransferPayment{Key: "k", To: appapi.ToQuote{QuoteID: "q"}})
	add("with a memo", TransferPayment{Key: "k", To: appapi.ToQuote{QuoteID: "q", Memo: "m"}})
	id := "8a3f5f0e-7a0c-4a4e-9df4-0a4d3ad1f6c2"
	add("of an invoice", TransferPayment{Key: "k", To: appapi.ToInvoice{InvoiceID: id}})
	add("to a contact", TransferPayment{Key: "k", To: appapi.ToContact{ContactID: id, Amount: *dec("1")}})
	add("another amount", TransferPayment{Key: "k", To: appapi.ToContact{ContactID: id, Amount: *dec("2")}})
}

// What Submit is given is what is stored.
func TestTermsAreStored(t *testing.T) {
	r := prepared(t, wholePayment())
	assert.Equal(t, wholePayment().Payout, *r.Payout)
	assert.Equal(t, wholePayment().Bounds, r.Bounds)
	assert.Equal(t, wholePayment().Deadline, r.Deadline)
	assert.Equal(t, wholePayment().Metadata, r.Metadata)
	assert.Equal(t, wholeEscrow().Escrow, *prepared(t, wholeEscrow()).Escrow)
	assert.Equal(t, dapi.EscrowID("es_1"), prepared(t, wholeAction()).EscrowID)
	for _, to := range []appapi.Destination{
		appapi.ToQuote{QuoteID: "q", Memo: "m"}, appapi.ToInvoice{InvoiceID: "8a3f5f0e-7a0c-4a4e-9df4-0a4d3ad1f6c2"},
		appapi.ToContact{ContactID: "8a3f5f0e-7a0c-4a4e-9df4-0a4d3ad1f6c2", Amount: *dec("1.5"), Memo: "m"},
	} {
		assert.Equal(t, to, prepared(t, TransferPayment{Key: "k", To: to}).Transfer.destination())
	}
	noFee := prepared(t, changed(wholePayment(), func(p *Payment) { p.Bounds = dapi.Bounds{MaxFee: dec("0")} }))
	if assert.NotNil(t, noFee.Bounds.MaxFee, "a bound of zero is a bound") {
		assert.True(t, noFee.Bounds.MaxFee.IsZero())
	}
}

// A store of an earlier commit has another name for a doubt. The payment is searched for before it is paid, as before.
func TestEarlierNameOfADoubtIsRead(t *testing.T) {
	payment := wholePayment()
	record, err := Prepare(payment, time.Now())
	require.NoError(t, err)
	record.Reason = &Reason{Code: "unknown"}
	text, err := record.Encode()
	require.NoError(t, err)
	read := Decode(record.Key, text)
	require.NoError(t, read.Err())
	assert.Equal(t, ReasonInDoubt, read.Reason.Code)
	assert.True(t, read.searchFirst(record.ChangedAt))
}

// What is read again has the digest of what was submitted, also if the text is the same for several values, and also if
// the caller changes what it has submitted.
func TestDecodedTermsHaveSameDigest(t *testing.T) {
	odd := time.FixedZone("", 3601) // a text has the minutes of a zone alone
	for name, change := range map[string]func(*Payment){
		"as they are":   func(*Payment) {},
		"an empty list": func(p *Payment) { p.Payout.DocumentIDs = []string{} },
		"an odd zone": func(p *Payment) {
			p.Bounds.NoWorseThan, p.Deadline, p.FirstUsed = quote(odd), start.Add(time.Hour).In(odd), start.In(odd)
		},
		"an exponent": func(p *Payment) { p.Bounds.MaxFee = dec("1e2") },
	} {
		submitted := changed(wholePayment(), change)
		r := prepared(t, submitted)
		clear(submitted.Payout.DocumentIDs)
		clear(submitted.Metadata)
		*submitted.Bounds.MaxFee = *dec("99")
		submitted.Bounds.NoWorseThan.Fee = *dec("99")
		text, err := r.Encode()
		require.NoError(t, err)
		again := Decode(r.Key, text)
		require.NoError(t, again.Err())
		assert.Equal(t, r, again, name)
		assert.False(t, again.edited(), name)
		assert.Equal(t, "42", again.Metadata["invoice"])
	}
}

func TestSubmissionsThatAreRefused(t *testing.T) {
	for name, s := range map[string]Submission{
		"nil":                       nil,
		"a nil pointer":             (*Payment)(nil),
		"a pointer":                 &Payment{},
		"the zero payment":          Payment{},
		"the zero escrow":           EscrowPayment{},
		"the zero action":           EscrowAction{},
		"the zero transfer":         TransferPayment{},
		"no key":                    changed(wholePayment(), func(p *Payment) { p.Key = "" }),
		"a key the service refuses": changed(wholePayment(), func(p *Payment) { p.Key = "a b" }),
		"a negative amount":         changed(wholePayment(), func(p *Payment) { p.Payout.Amount = *dec("-1") }),
		"a negative fee":            changed(wholePayment(), func(p *Payment) { p.Bounds.MaxFee = dec("-1") }),
		"a fee of a billion digits": changed(wholePayment(), func(p *Payment) {
			*p.Bounds.MaxFee = decimal.New(1, 999_999_999)
		}),
		"a tolerance of a billion digits": changed(wholePayment(), func(p *Payment) {
			p.Bounds.QuoteTolerance = decimal.New(1, -999_999_999)
		}),
		"a minimum of a billion digits": changed(wholePayment(), func(p *Payment) {
			*p.Bounds.MinDestinationAmount = decimal.New(1, 999_999_999)
		}),
		"a price of a billion digits": changed(wholePayment(), func(p *Payment) {
			p.Bounds.NoWorseThan.Rate = decimal.New(1, 999_999_999)
		}),
		"a currency without a bound": changed(wholePayment(), func(p *Payment) { p.Bounds.MinDestinationAmount = nil }),
		"a tolerance of everything":  changed(wholePayment(), func(p *Payment) { p.Bounds.QuoteTolerance = *dec("1") }),
		"a first use in the future": changed(wholePayment(), func(p *Payment) {
			p.FirstUsed = start.Add(48 * time.Hour)
		}),
		"metadata that is not text": changed(wholePayment(), func(p *Payment) { p.Metadata["a"] = "\xff" }),
		"too much metadata": changed(wholePayment(), func(p *Payment) {
			p.Metadata["a"] = strings.Repeat("a", maxMetadataBytes)
		}),
	} {
		_, err := Prepare(s, start)
		_, invalid := errors.AsType[*errors.InvalidInput](err)
		assert.True(t, invalid, "%s: %v", name, err)
	}
}

// A payment whose key was used before may be paid: it is in doubt from the start.
func TestUsedKeyIsInDoubt(t *testing.T) {
	r := prepared(t, changed(wholePayment(), func(p *Payment) { p.FirstUsed = start.Add(-time.Hour) }))
	assert.Equal(t, moneymovement.PaymentInDoubt, r.State)
	assert.True(t, r.MayHaveLeft)
	assert.Equal(t, WorkAgain, r.Work())
}

// fullRecord has a value in each field.
func fullRecord(t *testing.T) Record {
	r := prepared(t, changed(wholePayment(), func(p *Payment) { p.FirstUsed = start.Add(-time.Hour) }))
	r.Trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	r.Reason = &Reason{Code: ReasonPrice, Message: "too high", Slug: errors.CodeContactNotPayable, RequestID: "req_1",
		Bound: dapi.BoundMaxFee, Quote: quote(time.UTC), Reference: quote(time.UTC),
		Blockers:  []errors.Blocker{{Code: "iban_missing", Message: "No IBAN."}},
		Available: dec("0"), Currency: "USDC", Owner: "po_2"}
	r.Calls, r.Searches, r.PayoutID, r.EscrowID, r.TransactionHash = 3, 1, "po_1", "es_1", "0xabc"
	r.RefusedQuote = quote(time.UTC)
	r.Quote, r.KeyTooOld, r.PaidAt, r.Due = quote(time.UTC), true, start.Add(time.Minute), start.Add(time.Hour)
	return r
}

// The file was written by version 0.1 of the record: later versions must read it, or migrate it.
func TestAStoredRecordIsReadBack(t *testing.T) {
	path := "testdata/record.json"
	r := fullRecord(t)
	text, err := r.Encode()
	require.NoError(t, err)
	if os.Getenv("WRITE_TESTDATA") != "" {
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	stored, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.JSONEq(t, string(stored), string(text))
	assert.Equal(t, r, Decode("k", stored))
}

func TestDamagedRecordsAreUnreadable(t *testing.T) {
	stored, err := os.ReadFile("testdata/record.json")
	require.NoError(t, err)
	text := string(stored)
	for name, data := range map[string]string{
		"nothing":         "",
		"null":            "null",
		"empty":           "{}",
		"cut short":       text[:len(text)-1],
		"more":            text + "{}",
		"another key":     strings.Replace(text, `"key":"k"`, `"key":"l"`, 1),
		"another kind":    strings.Replace(text, `"kind":"payout"`, `"kind":"escrow"`, 1),
		"an unknown kind": strings.Replace(text, `"kind":"payout"`, `"kind":"cash"`, 1),
		"a later state":   strings.Replace(text, `"state":"in_doubt"`, `"state":"one_of_tomorrow"`, 1),
		"a later term":    strings.Replace(text, `"paymentReference":`, `"later":1,"paymentReference":`, 1),
		"two faults":      strings.Replace(text, `{"key":`, `{"later":1,"payout":{"later":1},"key":`, 1),
		"needs no number": strings.Replace(text, `{"key":`, `{"needs":"2","later":1,"key":`, 1),
		"no first use":    strings.Replace(text, `"firstUsed":"2026-03-01T11:00:00Z",`, "", 1),
	} {
		assert.NotEqual(t, text, data, name)
		damaged := Decode("k", []byte(data))
		unreadable, ok := errors.AsType[*Unreadable](damaged.Err())
		if assert.True(t, ok, "%s: %v", name, damaged.Err()) {
			assert.Equal(t, moneymovement.Key("k"), unreadable.Key)
			assert.Equal(t, Record{Key: "k", unreadable: unreadable}, damaged)
		}
		_, err := damaged.Encode()
		assert.Equal(t, damaged.Err(), err, "it must not replace what is stored")
	}
}

// A member of a later version stays in the record, whatever becomes of the others.
func TestMembersOfALaterVersionStay(t *testing.T) {
	stored, err := os.ReadFile("testdata/record.json")
	require.NoError(t, err)
	text := strings.Replace(string(stored), `"kind":`, `"later":{"b":[1,2.50],"a":null},"and":"more","kind":`, 1)
	record := Decode("k", []byte(text))
	require.NoError(t, record.Err())
	whole := fullRecord(t)
	whole.later = record.later
	assert.Equal(t, whole, record)
	record.setState(moneymovement.PaymentNeedsDecision, start)
	again, err := record.Encode()
	require.NoError(t, err)
	assert.JSONEq(t, strings.Replace(text, `"state":"in_doubt"`, `"state":"needs_decision"`, 1),
		strings.Replace(string(again), `"acceptedAt"`, `"searches":1,"acceptedAt"`, 1))
	assert.Equal(t, record.later, Decode("k", again).later)
}

// What a newer program has written is shown as far as it can be read, and is not written again.
func TestRecordOfANewerProgramIsShown(t *testing.T) {
	stored, err := os.ReadFile("testdata/record.json")
	require.NoError(t, err)
	needs := fmt.Sprintf(`{"needs":%d,`, RecordVersion+1)
	for name, change := range map[string]*strings.Replacer{
		"nothing else":    strings.NewReplacer(`{"key":`, needs+`"key":`),
		"a later member":  strings.NewReplacer(`{"key":`, needs+`"later":1,"key":`),
		"a later term":    strings.NewReplacer(`{"key":`, needs+`"key":`, `"paymentReference":`, `"later":1,"paymentReference":`),
		"a later state":   strings.NewReplacer(`{"key":`, needs+`"key":`, `"state":"in_doubt"`, `"state":"of_tomorrow"`),
		"terms it lacks":  strings.NewReplacer(`{"key":`, needs+`"key":`, `"kind":"payout"`, `"kind":"of_tomorrow"`),
		"a later version": strings.NewReplacer(`{"key":`, `{"needs":70,"key":`),
	} {
		record := Decode("k", []byte(change.Replace(string(stored))))
		unreadable, is := errors.AsType[*Unreadable](record.Err())
		require.True(t, is, "%s: %v", name, record.Err())
		assert.True(t, unreadable.Newer, name)
		assert.ErrorContains(t, unreadable, "use the newer version", name)
		assert.Equal(t, "ref", record.Payout.PaymentReference, name)
		_, err := record.Encode()
		assert.Equal(t, record.Err(), err, "%s: it must not replace what is stored", name)
	}
	record := Decode("another", []byte(strings.Replace(string(stored), `{"key":`, needs+`"key":`, 1)))
	unreadable, is := errors.AsType[*Unreadable](record.Err())
	require.True(t, is)
	assert.False(t, unreadable.Newer, "the record of another payment is not one of a newer program")
}

// Damaged data is refused without a panic, when it is read and in the steps of what was read.
func FuzzRecord(f *testing.F) {
	stored, err := os.ReadFile("testdata/record.json")
	require.NoError(f, err)
	f.Add(stored)
	for _, kind := range []string{"escrow", "escrow_action", "transfer", "cash"} {
		f.Add([]byte(strings.Replace(string(stored), `"payout"`, `"`+kind+`"`, 1)))
	}
	f.Add([]byte(`{"key":"k","kind":"transfer","transfer":{},"state":"paid","acceptedAt":"2026-03-01T11:00:00Z"}`))
	f.Add([]byte(strings.Replace(string(stored), `{"key":`, `{"later":[{"a":1}],"key":`, 1)))
	f.Add([]byte(strings.Replace(string(stored), `{"key":`, `{"needs":70,"key":`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := Decode("k", data)
		if err := r.Err(); err != nil {
			_, unreadable := errors.AsType[*Unreadable](err)
			assert.True(t, unreadable, "%v", err)
			return
		}
		_ = r.next(start)
		_ = r.check()
		_ = r.begin(start).apply(callResult{state: moneymovement.PaymentNotPaid}, Policy{}.withDefaults(), start)
		text, err := r.Encode()
		require.NoError(t, err)
		again := Decode("k", text)
		rewritten, err := again.Encode()
		require.NoError(t, err)
		assert.Equal(t, text, rewritten)
	})
}

// BenchmarkSubmit shows what Submit costs without a disk.
func BenchmarkSubmit(b *testing.B) {
	key, err := signing.Generate()
	require.NoError(b, err)
	integrator, err := dapi.NewIntegrator("http://127.0.0.1", dapi.Developer{Email: "a@example.com", Key: key})
	require.NoError(b, err)
	processor, err := New(NewMemoryStore(), IntegratorServices(integrator), Config{})
	require.NoError(b, err)
	payment := wholePayment()
	payment.Deadline = time.Now().Add(time.Hour)
	n := 0
	for b.Loop() {
		payment.Key = moneymovement.Key(fmt.Sprintf("invoice-%09d", n))
		n++
		_, err := processor.Submit(b.Context(), payment)
		require.NoError(b, err)
	}
}

// Each submission that cannot be stored, with the field that is wrong.
func TestPrepareRefusals(t *testing.T) {
	payment := func(change func(*Payment)) Submission {
		p := Payment{Key: "k", Account: OwnAccount, Payout: dapi.PayoutCreate{ContactID: "ct_1",
			Amount: decimal.NewFromInt(5), Currency: dapi.USDC}}
		change(&p)
		return p
	}
	data := func(name, value string) Submission {
		return payment(func(p *Payment) { p.Metadata = map[string]string{name: value} })
	}
	used := func(at time.Time) Submission { return payment(func(p *Payment) { p.FirstUsed = at }) }
	due := func(at time.Time) Submission { return payment(func(p *Payment) { p.Deadline = at }) }
	entries := func(n int) map[string]string {
		all := map[string]string{}
		for i := range n {
			all[fmt.Sprint(i)] = ""
		}
		return all
	}
	late := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	priced := func(end time.Time) func(*Payment) {
		return func(p *Payment) {
			p.Bounds.NoWorseThan = &dapi.Quote{SourceAmount: decimal.NewFromInt(5), SourceCurrency: "USDC",
				DestinationAmount: decimal.NewFromInt(4), DestinationCurrency: "EUR", ExpiresAt: end}
		}
	}
	action := EscrowAction{Key: "k", Account: OwnAccount, EscrowID: "esc_1", Action: dapi.EscrowActionTypeRelease,
		Escrow: dapi.EscrowCreate{Amount: decimal.NewFromInt(5), Currency: dapi.USDC, Payee: testPayee}}
	noEscrow, wrongEscrow, noAction := action, action, action
	noEscrow.EscrowID, wrongEscrow.EscrowID, noAction.Action = "", "esc/1", ""
	for name, c := range map[string]struct {
		submission  Submission
		field, code string // empty if it can be stored
	}{
		"nothing":              {nil, "submission", "missing"},
		"a pointer":            {&Payment{}, "submission", "unknown_variant"},
		"a payment":            {payment(func(*Payment) {}), "", ""},
		"of no account":        {payment(func(p *Payment) { p.Account = "" }), "account", "missing"},
		"of another account":   {payment(func(p *Payment) { p.Account = "ct_1" }), "account", "invalid_id"},
		"used in an hour":      {used(start.Add(time.Hour)), "", ""},
		"used later":           {used(start.Add(time.Hour + 1)), "firstUsed", "out_of_range"},
		"the last deadline":    {due(late), "", ""},
		"the first deadline":   {due(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)), "", ""},
		"a deadline too early": {due(time.Date(-1, 12, 31, 0, 0, 0, 0, time.UTC)), "submission", "out_of_range"},
		"a deadline too late":  {due(late.Add(time.Second)), "submission", "out_of_range"},
		"a price":              {payment(priced(start)), "", ""},
		"a price without end":  {payment(priced(late.Add(time.Second))), "submission", "invalid"},
		"64 entries":           {payment(func(p *Payment) { p.Metadata = entries(64) }), "", ""},
		"65 entries":           {payment(func(p *Payment) { p.Metadata = entries(65) }), "metadata", "too_long"},
		"16 KiB":               {data("k", strings.Repeat("v", 16<<10-1)), "", ""},
		"more than 16 KiB":     {data("k", strings.Repeat("v", 16<<10)), "metadata", "too_long"},
		"a name without sense": {data("\xff", ""), "metadata", "invalid"},
		"a text without sense": {data("k", "\xff"), "metadata", "invalid"},
		"an action":            {action, "", ""},
		"of no escrow":         {noEscrow, "escrowId", "missing"},
		"of a wrong escrow":    {wrongEscrow, "escrowId", "pattern"},
		"no action":            {noAction, "type", "missing"},
		"a transfer":           {TransferPayment{Key: "k", To: appapi.ToQuote{QuoteID: "q"}}, "", ""},
		"a transfer to nobody": {TransferPayment{Key: "k"}, "destination", "unknown_variant"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Prepare(c.submission, start)
			if c.field == "" {
				require.NoError(t, err)
				return
			}
			invalid, is := errors.AsType[*errors.InvalidInput](err)
			require.True(t, is, "%v", err)
			assert.NotEmpty(t, invalid.Operation)
			assert.Equal(t, c.field+" "+c.code, invalid.Fields[0].Field+" "+invalid.Fields[0].Code, "%v", err)
			if c.field == "submission" || c.field == "metadata" || c.field == "firstUsed" || c.field == "account" {
				assert.Equal(t, "Submit", invalid.Operation)
			}
		})
	}
}

// The words of the kinds, which are in stored records.
func TestKindNames(t *testing.T) {
	for kind, submission := range map[string]Submission{"payout": Payment{}, "escrow": EscrowPayment{},
		"escrow_action": EscrowAction{}, "transfer": TransferPayment{}} {
		assert.Equal(t, kind, string(submission.record().Kind))
	}
}
