package dapi_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/signing"
)

// counted is an integrator and the number of requests that it has sent, the login included.
func counted(t *testing.T) (*dapi.Integrator, *atomic.Int32) {
	t.Helper()
	sent := new(atomic.Int32)
	w := &inprocess.Transport{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) })}
	key, err := signing.Generate()
	require.NoError(t, err)
	integrator, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key},
		moneymovement.WithHTTPClient(&http.Client{Transport: w}))
	require.NoError(t, err)
	return integrator, sent
}

// refusedUnsent expects that a call refuses one field of its input and sends nothing, not even a login.
func refusedUnsent(t *testing.T, call func(context.Context, *dapi.Integrator) error, field, code string) {
	t.Helper()
	integrator, sent := counted(t)
	refused := as[*errors.InvalidInput](t, call(t.Context(), integrator))
	require.Len(t, refused.Fields, 1)
	assert.Equal(t, field, refused.Fields[0].Field)
	assert.Equal(t, code, refused.Fields[0].Code)
	assert.NotEmpty(t, refused.Fields[0].Message)
	assert.NotEmpty(t, refused.Operation)
	assert.Zero(t, sent.Load())
}

// waits are all methods that wait.
var waits = map[string]func(context.Context, *dapi.Integrator, ...moneymovement.WaitOption) error{
	"Clients.WaitReady": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		_, err := i.Clients.WaitReady(ctx, "cl_1", o...)
		return err
	},
	"Verification.WaitDecided": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		_, err := i.For("cl_1").Verification.WaitDecided(ctx, o...)
		return err
	},
	"Rails.WaitActive": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		_, err := i.For("cl_1").Rails.WaitActive(ctx, "sepa", "EUR", o...)
		return err
	},
	"Payins.Wait": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		_, err := i.Self().Payins.Wait(ctx, "pi_1", o...)
		return err
	},
	"Payouts.Wait": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		_, err := i.Self().Payouts.Wait(ctx, "po_1", o...)
		return err
	},
	"Payouts.WaitAll": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		for result := range i.Self().Payouts.WaitAll(ctx, []dapi.PayoutID{"po_1"}, o...) {
			return result.Err
		}
		return nil
	},
	"Escrows.Wait": func(ctx context.Context, i *dapi.Integrator, o ...moneymovement.WaitOption) error {
		_, err := i.Self().Escrows.Wait(ctx, "esc_1", []dapi.EscrowStatus{dapi.EscrowStatusReleased}, o...)
		return err
	},
}

func TestInvalidWaitOptionsAreRefused(t *testing.T) {
	options := map[string]struct {
		option      moneymovement.WaitOption
		field, code string
	}{
		"pauses of zero":     {moneymovement.PollEvery(0, 0), "PollEvery", "out_of_range"},
		"negative pauses":    {moneymovement.PollEvery(-time.Second, time.Second), "PollEvery", "out_of_range"},
		"too short a pause":  {moneymovement.PollEvery(time.Millisecond-1, time.Second), "PollEvery", "out_of_range"},
		"too long a pause":   {moneymovement.PollEvery(time.Second, 24*time.Hour+1), "PollEvery", "out_of_range"},
		"the longer first":   {moneymovement.PollEvery(time.Minute, time.Minute-1), "PollEvery", "out_of_range"},
		"a nil OnProgress":   {moneymovement.OnProgress(nil), "OnProgress", "missing"},
		"one of two invalid": {moneymovement.PollEvery(time.Second, 0), "PollEvery", "out_of_range"},
	}
	for name, wait := range waits {
		for what, o := range options {
			t.Run(name+" with "+what, func(t *testing.T) {
				refusedUnsent(t, func(ctx context.Context, i *dapi.Integrator) error {
					return wait(ctx, i, nil, o.option)
				}, o.field, o.code)
			})
		}
	}
}

func TestInvalidArgumentsOfWaitsAreRefused(t *testing.T) {
	escrow := func(statuses ...dapi.EscrowStatus) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Wait(ctx, "esc_1", statuses)
			return err
		}
	}
	rail := func(method dapi.BankMethod, currency string) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.For("cl_1").Rails.WaitActive(ctx, method, currency)
			return err
		}
	}
	for name, c := range map[string]struct {
		call  func(context.Context, *dapi.Integrator) error
		field string
	}{
		"a deal for no status":    {escrow(), "statuses"},
		"a deal for an empty one": {escrow(dapi.EscrowStatusReleased, ""), "statuses"},
		"a rail without method":   {rail("", "EUR"), "method"},
		"a rail without currency": {rail("sepa", ""), "currency"},
	} {
		t.Run(name, func(t *testing.T) { refusedUnsent(t, c.call, c.field, "missing") })
	}
}

func TestInvalidTermsAreRefused(t *testing.T) {
	pay := func(terms dapi.PayTerms) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("25"),
				Currency: dapi.USDC}, "invoice-42", terms)
			return err
		}
	}
	bounded := func(bounds dapi.Bounds) func(context.Context, *dapi.Integrator) error {
		return pay(dapi.PayTerms{Bounds: bounds})
	}
	atMost := func(fee decimal.Decimal) func(context.Context, *dapi.Integrator) error {
		return bounded(dapi.Bounds{MaxFee: &fee})
	}
	atLeast := func(least decimal.Decimal) func(context.Context, *dapi.Integrator) error {
		return bounded(dapi.Bounds{MinDestinationAmount: &least, DestinationCurrency: "EUR"})
	}
	tolerant := func(part decimal.Decimal) func(context.Context, *dapi.Integrator) error {
		return bounded(dapi.Bounds{QuoteTolerance: part})
	}
	known := func(history dapi.History) func(context.Context, *dapi.Integrator) error {
		return pay(dapi.PayTerms{History: history})
	}
	open := func(history dapi.History) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Open(ctx, dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC,
				Payee: "0x1"}, "deal-42", dapi.DealTerms{History: history})
			return err
		}
	}
	act := func(history dapi.History) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Escrows.Act(ctx, dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC,
				Payee: "0x1"}, "esc_1", dapi.EscrowActionTypeRelease, "release-42", dapi.DealTerms{History: history})
			return err
		}
	}
	tomorrow := dapi.History{FirstUsed: time.Now().Add(24 * time.Hour)}
	for name, c := range map[string]struct {
		call        func(context.Context, *dapi.Integrator) error
		field, code string
	}{
		"a negative fee":                   {atMost(amount("-0.01")), "MaxFee", "out_of_range"},
		"a negative minimum":               {atLeast(amount("-1")), "MinDestinationAmount", "out_of_range"},
		"a negative tolerance":             {tolerant(amount("-0.1")), "QuoteTolerance", "out_of_range"},
		"a tolerance of all":               {tolerant(decimal.NewFromInt(1)), "QuoteTolerance", "out_of_range"},
		"a fee of too many digits":         {atMost(decimal.New(1, 999_999_999)), "MaxFee", "too_long"},
		"a fee of a long text":             {atMost(amount(strings.Repeat("1", 9_000))), "MaxFee", "too_long"},
		"a minimum of too many digits":     {atLeast(decimal.New(1, 999_999_999)), "MinDestinationAmount", "too_long"},
		"a tolerance of too many decimals": {tolerant(decimal.New(1, -999_999_999)), "QuoteTolerance", "too_long"},
		"a quote of too many digits": {bounded(dapi.Bounds{NoWorseThan: &dapi.Quote{
			SourceAmount: decimal.New(1, 999_999_999), SourceCurrency: "USDC", DestinationAmount: amount("1"),
			DestinationCurrency: "EUR"}}), "NoWorseThan", "too_long"},
		"a first use in the future":           {known(tomorrow), "History.FirstUsed", "out_of_range"},
		"a deal's first use in the future":    {open(tomorrow), "History.FirstUsed", "out_of_range"},
		"the path of another payout":          {known(dapi.History{PayoutID: ".."}), "History.PayoutID", "pattern"},
		"a payout's history of a deal":        {known(dapi.History{EscrowID: "e_1"}), "History.EscrowID", "unexpected"},
		"a deal's history of a payout":        {open(dapi.History{PayoutID: "po_1"}), "History.PayoutID", "unexpected"},
		"an action's history of another deal": {act(dapi.History{EscrowID: "esc_2"}), "History.EscrowID", "unexpected"},
	} {
		t.Run(name, func(t *testing.T) { refusedUnsent(t, c.call, c.field, c.code) })
	}
}

// The terms that an approval is compared with are needed where it is signed as well as where it is booked.
func TestTermsThatNoApprovalCanHaveAreRefused(t *testing.T) {
	confirm := func(asked dapi.PayoutCreate) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			_, err := i.Self().Payouts.Confirm(ctx, asked, &dapi.Payout{ID: "po_1"})
			return err
		}
	}
	act := func(terms dapi.EscrowCreate) func(context.Context, *dapi.Integrator) error {
		return func(ctx context.Context, i *dapi.Integrator) error {
			deals := i.Self().Escrows
			_, actErr := deals.Act(ctx, terms, "esc_1", dapi.EscrowActionTypeRelease, "release-42", dapi.DealTerms{})
			_, confirmErr := deals.Confirm(ctx, terms, "esc_1", dapi.EscrowActionTypeRelease, &dapi.EscrowAction{})
			if (actErr == nil) != (confirmErr == nil) {
				return errors.New("Act and Confirm judge differently")
			}
			_ = as[*errors.InvalidInput](t, confirmErr)
			return actErr
		}
	}
	for name, c := range map[string]struct {
		call        func(context.Context, *dapi.Integrator) error
		field, code string
	}{
		"a payout of a negative amount": {confirm(dapi.PayoutCreate{Amount: amount("-25"), Currency: dapi.USDC}),
			"amount", "too_small"},
		"a payout of too many digits": {confirm(dapi.PayoutCreate{Amount: decimal.New(1, 999_999_999),
			Currency: dapi.USDC}), "amount", "too_long"},
		"a deal of too many digits": {act(dapi.EscrowCreate{Amount: decimal.New(1, 999_999_999), Currency: dapi.USDC,
			Payee: "0x1"}), "amount", "too_long"},
		"a payout of no asset": {confirm(dapi.PayoutCreate{Amount: amount("25")}), "currency", "missing"},
		"a deal of a negative amount": {act(dapi.EscrowCreate{Amount: amount("-25"), Currency: dapi.USDC,
			Payee: "0x1"}), "amount", "too_small"},
		"a deal of no asset":   {act(dapi.EscrowCreate{Amount: amount("25"), Payee: "0x1"}), "currency", "missing"},
		"a deal without payee": {act(dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC}), "payee", "missing"},
	} {
		t.Run(name, func(t *testing.T) { refusedUnsent(t, c.call, c.field, c.code) })
	}
}

// A code that is not a word is refused, and one that names another chain.
func TestInvalidChainNamesAreRefused(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		names map[dapi.ChainCode]dapi.ChainID
		code  string
	}{
		"no id":    {map[dapi.ChainCode]dapi.ChainID{"zero": 0}, "out_of_range"},
		"no code":  {map[dapi.ChainCode]dapi.ChainID{"": 1}, "invalid_format"},
		"a number": {map[dapi.ChainCode]dapi.ChainID{"8453": 42161}, "invalid_format"},
		"no word":  {map[dapi.ChainCode]dapi.ChainID{"e\"th": 1}, "invalid_format"},
		"too long": {map[dapi.ChainCode]dapi.ChainID{dapi.ChainCode(strings.Repeat("a", 33)): 1},
			"invalid_format"},
		"of another chain": {map[dapi.ChainCode]dapi.ChainID{"base": 42161}, "conflict"},

		"the longest":       {map[dapi.ChainCode]dapi.ChainID{dapi.ChainCode(strings.Repeat("a", 32)): 1}, ""},
		"what is known":     {map[dapi.ChainCode]dapi.ChainID{"base": 8453}, ""},
		"a second of a one": {map[dapi.ChainCode]dapi.ChainID{"base-mainnet": 8453}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dapi.NewIntegrator(baseURL,
				dapi.Developer{Email: "ops@example.com", Key: key, ChainNames: tc.names})
			if tc.code == "" {
				require.NoError(t, err)
				return
			}
			refused := as[*errors.InvalidInput](t, err)
			require.Len(t, refused.Fields, 1)
			assert.Equal(t, "chainNames", refused.Fields[0].Field)
			assert.Equal(t, tc.code, refused.Fields[0].Code)
		})
	}
}
