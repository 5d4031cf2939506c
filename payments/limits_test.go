package payments_test

import (
	"context"
	"encoding/json"
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
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/signing"
)

// contactID is a contact of the app API.
const contactID = "3f0c5a2e-6a3b-4c1d-9e8f-0a1b2c3d4e5f"

func transfer(amount string) payments.TransferPayment {
	return payments.TransferPayment{Key: "k", To: appapi.ToContact{ContactID: contactID,
		Amount: decimal.RequireFromString(amount)}}
}

// services pay with both APIs of nobody.
func services(t *testing.T) payments.Services {
	t.Helper()
	key, err := signing.Generate()
	require.NoError(t, err)
	platform, err := dapi.NewIntegrator("http://127.0.0.1", dapi.Developer{Email: "a@example.com", Key: key})
	require.NoError(t, err)
	app, err := appapi.New("http://127.0.0.1", appapi.NewAPIKey("app-key"))
	require.NoError(t, err)
	return payments.IntegratorServices(platform).WithTransfers(app)
}

const reviewed = `{
	"timeZone": "Europe/Berlin",
	"assets": {"USDC": {"payment": "2500", "day": "20000", "payeeDay": "5000"}, "EURC": {}},
	"payees": {"ct_7": "rent", "ct_9": "payroll", "0x52908400098527886E0F7030069857D2E4169EE7": "deposit"},
	"chains": [8453, 10]
}`

func TestParseLimits(t *testing.T) {
	limits, err := payments.ParseLimits([]byte(reviewed))
	require.NoError(t, err)
	assert.Equal(t, "2500", limits.Assets[dapi.USDC].Payment.String())
	assert.Nil(t, limits.Assets[dapi.EURC].Day)
	assert.Equal(t, []dapi.ChainID{8453, 10}, limits.Chains)
}

// A policy that cannot be read stops the program at its start, and pays nothing if nobody looks at the error.
func TestLimitsThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":               ``,
		"not JSON":              `assets: {}`,
		"a member of nobody":    `{"assets": {}, "payes": {}}`,
		"a cap of nobody":       `{"assets": {"USDC": {"payment": "1", "week": "2"}}}`,
		"a member twice":        `{"assets": {}, "assets": {}}`,
		"more behind it":        `{"assets": {}} {}`,
		"a negative cap":        `{"assets": {"USDC": {"payment": "-1"}}}`,
		"a cap that is no text": `{"assets": {"USDC": {"payment": true}}}`,
		"a cap without end":     `{"assets": {"USDC": {"payment": "1e1000000"}}}`,
		"no zone":               `{"assets": {"USDC": {"day": "1"}}}`,
		"a zone of the machine": `{"assets": {"USDC": {"day": "1"}}, "timeZone": "Local"}`,
		"an unknown zone":       `{"assets": {"USDC": {"day": "1"}}, "timeZone": "Europe/Nowhere"}`,
		"an asset twice":        `{"assets": {"USDC": {}, "usdc": {}}}`,
		"a payee twice":         `{"assets": {}, "payees": {"ct_7": "a", "7": "b"}}`,
		"a payee without name":  `{"assets": {}, "payees": {"ct_7": " "}}`,
		"an unreal chain":       `{"assets": {}, "chains": [0]}`,
		"no limits":             `null`,
		"null payees":           `{"assets": {}, "payees": null}`,
		"a null cap":            `{"assets": {"USDC": {"payment": null}}}`,
		"a null asset":          `{"assets": {"USDC": null}}`,
	} {
		t.Run(name, func(t *testing.T) {
			limits, err := payments.ParseLimits([]byte(text))
			var refused *errors.InvalidInput
			require.ErrorAs(t, err, &refused)
			require.NotNil(t, limits)
			p, err := payments.New(payments.NewMemoryStore(), payments.Services{}, payments.Config{Limits: limits})
			require.ErrorAs(t, err, &refused)
			assert.Nil(t, p)
			_, err = limits.BeforeSigning(nil)
			require.ErrorAs(t, err, &refused)
		})
	}
}

// What nobody may be is not what everybody may be, also after it was written and read again.
func TestLimitsAreWrittenAsTheyAreRead(t *testing.T) {
	nobody := &payments.Limits{Assets: map[dapi.Asset]payments.Caps{}, Payees: map[string]string{},
		Chains: []dapi.ChainID{}}
	text, err := json.Marshal(nobody)
	require.NoError(t, err)
	read, err := payments.ParseLimits(text)
	require.NoError(t, err)
	assert.Equal(t, nobody, read)
}

// A processor keeps the limits that it began with.
func TestLimitsDoNotChange(t *testing.T) {
	most := decimal.NewFromInt(1)
	allows, err := (&payments.Limits{Assets: map[dapi.Asset]payments.Caps{dapi.USDC: {Payment: &most}}}).
		BeforeSigning(nil)
	require.NoError(t, err)
	most = decimal.NewFromInt(1000)
	require.ErrorContains(t, allows(t.Context(), booking("k", "ct_7", "2")), "the cap of a payment is 1")
}

// A payout that names one chain is one across chains, and the other one is Base.
func TestChainsOfAPayout(t *testing.T) {
	allows, err := (&payments.Limits{Assets: map[dapi.Asset]payments.Caps{dapi.USDC: {}}, Chains: []dapi.ChainID{10}}).
		BeforeSigning(nil)
	require.NoError(t, err)
	for name, one := range map[string]struct {
		from, to dapi.ChainID
		refused  string
	}{
		"none": {0, 0, ""}, "both": {10, 10, ""}, "from": {10, 0, "chain 8453"}, "to": {0, 10, "chain 8453"},
		"Base": {8453, 10, "chain 8453"}, "another": {10, 1, "chain 1"},
	} {
		err := allows(t.Context(), booking("k", "ct_7", "2", func(p *dapi.Payout) {
			p.FromChainID, p.ToChainID = one.from, one.to
		}))
		if one.refused == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, one.refused, name)
		}
	}
}

// counter is a Counter in memory, as a program with a database of its own has one.
type counter map[moneymovement.Key]payments.Spending

func (c counter) count(_ context.Context, key moneymovement.Key, s payments.Spending, caps []payments.Cap) error {
	for _, limit := range caps {
		sum := s.Amount
		for other, counted := range c {
			if other != key && counted.Asset == limit.Asset && (limit.Payee == "" || counted.Payee == limit.Payee) &&
				!counted.At.Before(limit.From) && counted.At.Before(limit.Until) {
				sum = sum.Add(counted.Amount)
			}
		}
		if sum.GreaterThan(limit.Most) {
			return &payments.CapReached{Key: key, Cap: limit, Sum: sum}
		}
	}
	c[key] = s
	return nil
}

// booking is a booked payout.
func booking(key, contact, amount string, change ...func(*dapi.Payout)) *dapi.Payout {
	booked := &dapi.Payout{ID: "po_1", IdempotencyKey: key, ContactID: dapi.ContactID(contact), Currency: dapi.USDC,
		Amount: decimal.RequireFromString(amount)}
	for _, c := range change {
		c(booked)
	}
	return booked
}

func TestLimitsOfPayAlone(t *testing.T) {
	limits, err := payments.ParseLimits([]byte(reviewed))
	require.NoError(t, err)
	counted := counter{}
	allows, err := limits.BeforeSigning(counted.count)
	require.NoError(t, err)
	for _, one := range []struct {
		name   string
		booked *dapi.Payout
		why    string // it is refused, "" if it is not
	}{
		{"a payee of the list", booking("k1", "ct_7", "2500"), ""},
		{"the same id without its prefix", booking("k2", "7", "2500"), ""},
		{"the same payment again", booking("k2", "ct_7", "2500"), ""},
		{"the payee's cap is reached", booking("k3", "ct_7", "0.000001"), "the cap of a day is 5000"},
		{"another payee", booking("k4", "ct_9", "1"), ""},
		{"an unknown payee", booking("k5", "ct_8", "1"), "do not name the payee"},
		{"more than a payment may be", booking("k6", "ct_9", "2500.000001"), "cap of a payment is 2500"},
		{"a fee on top", booking("k6", "ct_9", "2500", func(p *dapi.Payout) {
			p.Quote = &dapi.Quote{SourceCurrency: "USDC", SourceAmount: decimal.RequireFromString("2500.5")}
		}), "cap of a payment is 2500"},
		{"chains of the list", booking("k7", "ct_9", "1", func(p *dapi.Payout) {
			p.FromChainID, p.ToChainID = 8453, 10
		}), ""},
		{"another chain", booking("k8", "ct_9", "1", func(p *dapi.Payout) {
			p.FromChainID, p.ToChainID = 8453, 1
		}), "do not name the chain 1"},
		{"an asset without caps", booking("k9", "ct_9", "1000000", func(p *dapi.Payout) {
			p.Currency = dapi.EURC
		}), ""},
		{"another asset", booking("k10", "ct_9", "1", func(p *dapi.Payout) { p.Currency = "DAI" }),
			"do not name the asset"},
		{"a booking without a key", booking("", "ct_9", "1"), "no key"},
		{"no booking", nil, "no booking"},
		{"a booking without a contact", booking("k11", "", "1"), "does not show"},
		{"a booking with a prefix for a contact", booking("k11", "ct_", "1"), "does not show"},
		{"a booking with a blank for a currency", booking("k11", "ct_9", "1", func(p *dapi.Payout) {
			p.Currency = " "
		}), "does not show"},
		{"a booking without an amount", booking("k12", "ct_9", "0"), "does not show"},
		{"a booking without a currency", booking("k13", "ct_9", "1", func(p *dapi.Payout) { p.Currency = "" }),
			"does not show"},
	} {
		err := allows(t.Context(), one.booked)
		if one.why == "" {
			require.NoError(t, err, one.name)
		} else {
			require.ErrorContains(t, err, one.why, one.name)
		}
	}
	assert.Equal(t, "rent", counted["k2"].Payee)
	assert.Len(t, counted, 5)

	refuses, err := (*payments.Limits)(nil).BeforeSigning(counted.count)
	require.NoError(t, err)
	require.ErrorContains(t, refuses(t.Context(), booking("k1", "ct_7", "1")), "do not name the asset")
	_, err = limits.BeforeSigning(nil)
	require.ErrorAs(t, err, new(*errors.InvalidInput), "a cap for a day needs a counter")
	allows, err = (&payments.Limits{Assets: map[dapi.Asset]payments.Caps{dapi.USDC: {}}}).BeforeSigning(nil)
	require.NoError(t, err)
	require.NoError(t, allows(t.Context(), booking("k1", "ct_8", "1")))
}

// A day has the length that it has in its zone, and begins there.
func TestDaysOfAZone(t *testing.T) {
	for zone, days := range map[string]map[string][2]string{
		"UTC": {"2026-03-29T00:00:00Z": {"2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z"}},
		"Europe/Berlin": {
			"2026-03-28T22:59:59Z": {"2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z"},
			"2026-03-28T23:00:00Z": {"2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"}, // 23 hours
			"2026-10-25T12:00:00Z": {"2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"}, // 25 hours
		},
		"Asia/Kathmandu":      {"2026-01-01T18:15:00Z": {"2026-01-01T18:15:00Z", "2026-01-02T18:15:00Z"}},
		"Pacific/Chatham":     {"2026-06-01T00:00:00Z": {"2026-05-31T11:15:00Z", "2026-06-01T11:15:00Z"}},
		"Australia/Lord_Howe": {"2026-04-04T20:00:00Z": {"2026-04-04T13:00:00Z", "2026-04-05T13:30:00Z"}},
		// That day, or the next one, has no midnight or two.
		"Africa/Cairo":     {"2026-04-24T12:00:00Z": {"2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"}},
		"America/Santiago": {"2026-09-06T03:10:00Z": {"2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z"}},
		"Atlantic/Azores":  {"2026-03-29T00:10:00Z": {"2026-03-28T01:00:00Z", "2026-03-29T01:00:00Z"}},
		"Asia/Amman":       {"2021-10-28T21:30:00Z": {"2021-10-28T21:00:00Z", "2021-10-29T22:00:00Z"}},
		"America/Havana":   {"2026-03-08T04:10:00Z": {"2026-03-07T05:00:00Z", "2026-03-08T05:00:00Z"}},
	} {
		limits := &payments.Limits{TimeZone: zone, Assets: map[dapi.Asset]payments.Caps{
			dapi.USDC: {Day: new(decimal.NewFromInt(100))}}}
		for at, want := range days {
			now, err := time.Parse(time.RFC3339, at)
			require.NoError(t, err)
			p, err := payments.New(payments.NewMemoryStore(), services(t),
				payments.Config{Limits: limits, Now: func() time.Time { return now }})
			require.NoError(t, err)
			record, err := p.Prepare(t.Context(), transfer("1"))
			require.NoError(t, err)
			require.Len(t, record.Count.Caps, 1)
			got := record.Count.Caps[0]
			assert.Equal(t, want, [2]string{got.From.UTC().Format(time.RFC3339), got.Until.UTC().Format(time.RFC3339)},
				"%s in %s", at, zone)
			nothing := func(payments.Cap) (decimal.Decimal, error) { return decimal.Zero, nil }
			changes, err := record.Recount(nil, nothing)
			require.NoError(t, err)
			for _, change := range changes {
				assert.False(t, change.At.Before(got.From), "the day begins with a quarter of an hour")
			}
		}
	}
}

// Each kind counts what it debits, and for whom.
func TestWhatCounts(t *testing.T) {
	limits := &payments.Limits{Assets: map[dapi.Asset]payments.Caps{dapi.USDC: {}}}
	escrow := dapi.EscrowCreate{Amount: decimal.NewFromInt(40), Currency: dapi.USDC,
		Payee: "0x52908400098527886E0F7030069857D2E4169EE7"}
	action := func(a dapi.EscrowActionType) payments.EscrowAction {
		return payments.EscrowAction{Key: "k", Account: payments.OwnAccount, Escrow: escrow, EscrowID: "es_1",
			Action: a}
	}
	for name, one := range map[string]struct {
		submission payments.Submission
		counts     string
		refused    string
	}{
		"payout": {payments.Payment{Key: "k", Account: payments.OwnAccount, Payout: dapi.PayoutCreate{ContactID: "ct_1",
			Amount: decimal.NewFromInt(7), Currency: dapi.USDC}}, "7 USDC to 1", ""},
		"escrow": {payments.EscrowPayment{Key: "k", Account: payments.OwnAccount, Escrow: escrow},
			"40 USDC to " + strings.ToLower(string(escrow.Payee)), ""},
		"approval": {action(dapi.EscrowActionTypeApprove), "40 USDC to " + strings.ToLower(string(escrow.Payee)), ""},
		"release":  {action(dapi.EscrowActionTypeRelease), "", ""},
		"refund":   {action(dapi.EscrowActionTypeRefund), "", ""},
		"transfer": {transfer("5"), "5 USDC to " + contactID, ""},
		"transfer by quote": {payments.TransferPayment{Key: "k", To: appapi.ToQuote{QuoteID: "q_1"}}, "",
			"the amount of a transfer by quote or invoice is not known"},
		"a blank asset": {payments.Payment{Key: "k", Account: payments.OwnAccount, Payout: dapi.PayoutCreate{
			ContactID: "ct_1", Amount: decimal.NewFromInt(7), Currency: " "}}, "", "does not show its asset"},
		"another asset": {payments.Payment{Key: "k", Account: payments.OwnAccount, Payout: dapi.PayoutCreate{
			ContactID: "ct_1", Amount: decimal.NewFromInt(7), Currency: dapi.EURC}}, "", `the asset "EURC"`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := payments.New(payments.NewMemoryStore(), services(t), payments.Config{Limits: limits})
			require.NoError(t, err)
			record, err := p.Prepare(t.Context(), one.submission)
			require.NoError(t, err)
			counts := ""
			if s := record.Spending; s != nil {
				counts = s.Amount.String() + " " + s.Asset + " to " + s.Payee
				assert.Equal(t, 2, record.Needs, "a program that does not count must leave it alone")
			}
			assert.Equal(t, one.counts, counts)
			if one.refused == "" {
				assert.Equal(t, moneymovement.PaymentAccepted, record.State)
				return
			}
			assert.Equal(t, moneymovement.PaymentNeedsDecision, record.State)
			assert.Equal(t, payments.ReasonPolicy, record.Reason.Code)
			assert.Contains(t, record.Reason.Message, one.refused)
			assert.Zero(t, record.Due)
		})
	}
}
