package payments_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
)

// decides is a processor that only decides, over a store with one payment.
func decides(t *testing.T, config payments.Config) (*payments.Processor, payments.Record) {
	t.Helper()
	store := payments.NewMemoryStore()
	record, err := payments.Prepare(payments.Payment{Key: "invoice-1", Account: payments.OwnAccount,
		Payout: dapi.PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(5), Currency: dapi.USDC}}, time.Now())
	require.NoError(t, err)
	record, _, err = store.Insert(t.Context(), record)
	require.NoError(t, err)
	p, err := payments.New(store, payments.Services{}, config)
	require.NoError(t, err)
	return p, record
}

func TestDecisionsAreStoredWithTheirAuthors(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var log bytes.Buffer
	p, _ := decides(t, payments.Config{Now: func() time.Time { return now },
		Logger: slog.New(slog.NewTextHandler(&log, nil))})
	fee := decimal.NewFromInt(2)
	bounds := dapi.Bounds{MaxFee: &fee}
	_, err := p.Decide(t.Context(), "invoice-1", payments.NewBounds(bounds).By("Zoë (night shift)"))
	require.NoError(t, err)
	_, err = p.Decide(t.Context(), "invoice-1", payments.Retry())
	require.NoError(t, err)
	_, err = p.Decide(t.Context(), "invoice-1", payments.Cancel("sent twice").By("ops@example.com"))
	require.NoError(t, err)
	stored, err := p.Get(t.Context(), "invoice-1")
	require.NoError(t, err)
	assert.Equal(t, []payments.Decided{
		{At: now, By: "Zoë (night shift)", What: "new bounds", Bounds: &bounds, State: moneymovement.PaymentAccepted},
		{At: now, What: "retry", State: moneymovement.PaymentAccepted, Reason: payments.ReasonDecided},
		{At: now, By: "ops@example.com", What: "cancel", Note: "sent twice", State: moneymovement.PaymentAccepted,
			Reason: payments.ReasonDecided},
	}, stored.Decisions)
	assert.Contains(t, log.String(), `decision=cancel decidedBy=ops@example.com`)
}

// The record does not grow without end: the latest decisions count.
func TestTheLastDecisionsAreKept(t *testing.T) {
	p, _ := decides(t, payments.Config{})
	for i := range 103 {
		_, err := p.Decide(t.Context(), "invoice-1", payments.Retry().By(fmt.Sprint("person ", i)))
		require.NoError(t, err)
	}
	stored, err := p.Get(t.Context(), "invoice-1")
	require.NoError(t, err)
	require.Len(t, stored.Decisions, 100)
	assert.Equal(t, "person 3", stored.Decisions[0].By)
	assert.Equal(t, "person 102", stored.Decisions[99].By)
}

func TestAuthorsAndNotesThatCannotBeStored(t *testing.T) {
	p, before := decides(t, payments.Config{})
	cancel := payments.Cancel("")
	for name, d := range map[string]payments.Decision{
		"an empty author":  cancel.By(""),
		"spaces":           cancel.By("  "),
		"two lines":        cancel.By("ops\nadmin"),
		"a control":        cancel.By("ops\x1b[2J"),
		"another order":    cancel.By("ops\u202e"),
		"not UTF-8":        cancel.By("\xff"),
		"a long author":    cancel.By(strings.Repeat("é", 201)),
		"a note of lines":  payments.Cancel("a\nb").By("ops"),
		"a note too long":  payments.WasNotPaid(strings.Repeat("n", 1001)).By("ops"),
		"an invalid bound": payments.NewBounds(dapi.Bounds{QuoteTolerance: decimal.NewFromInt(5)}).By("ops"),
	} {
		_, err := p.Decide(t.Context(), "invoice-1", d)
		_, invalid := errors.AsType[*errors.InvalidInput](err)
		assert.True(t, invalid, "%s: %v", name, err)
	}
	stored, err := p.Get(t.Context(), "invoice-1")
	require.NoError(t, err)
	assert.Equal(t, before, stored)
	_, err = p.Decide(t.Context(), "invoice-1", payments.Cancel(strings.Repeat("n", 1000)).By(strings.Repeat("é", 200)))
	require.NoError(t, err)
}

// Two people see the same payment. The first decision counts, and the second one changes nothing.
func TestTheSecondOfTwoDecisionsAboutWhatWasSeen(t *testing.T) {
	p, seen := decides(t, payments.Config{})
	first, err := p.Decide(t.Context(), seen.Key, payments.Retry().By("one").Seen(seen))
	require.NoError(t, err)
	_, err = p.Decide(t.Context(), seen.Key, payments.Cancel("").By("two").Seen(seen))
	refused, ok := errors.AsType[*payments.NotPossible](err)
	require.True(t, ok, "%v", err)
	assert.True(t, refused.Changed)
	stored, err := p.Get(t.Context(), seen.Key)
	require.NoError(t, err)
	assert.Equal(t, first.Position, stored.Position)
	assert.Len(t, stored.Decisions, 1)
	_, err = p.Decide(t.Context(), seen.Key, payments.Cancel("").By("two").Seen(stored))
	require.NoError(t, err)
}

func TestAllows(t *testing.T) {
	_, record := decides(t, payments.Config{})
	require.NoError(t, record.Allows(payments.Cancel("")))
	refused, ok := errors.AsType[*payments.NotPossible](record.Allows(payments.WasPaid("po_1")))
	require.True(t, ok)
	assert.Equal(t, record.Key, refused.Key)
	_, invalid := errors.AsType[*errors.InvalidInput](record.Allows(payments.Retry().By("")))
	assert.True(t, invalid)
	unreadable := payments.Decode("invoice-1", []byte("{}"))
	_, damaged := errors.AsType[*payments.Unreadable](unreadable.Allows(payments.Retry()))
	assert.True(t, damaged)
}
