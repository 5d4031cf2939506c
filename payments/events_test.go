package payments

import (
	"fmt"
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
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// What the next step is, by the state, the age of the key and the deadline. The words are those of the metrics.
func TestTheNextStep(t *testing.T) {
	const week, margin = 7 * 24 * time.Hour, 2 * time.Hour
	for name, c := range map[string]struct {
		state    moneymovement.PaymentState
		left     bool
		age      time.Duration // 0 for a key that was not used
		deadline time.Duration // from now, 0 without one
		want     string
	}{
		"new":                                {state: "accepted", want: "pay"},
		"begun":                              {state: "paying", age: time.Hour, want: "pay"},
		"in doubt":                           {state: "in_doubt", left: true, age: time.Hour, want: "pay"},
		"unpaid, while the key lives":        {state: "accepted", age: week - margin, want: "pay"},
		"unpaid, and the key may be gone":    {state: "accepted", age: week - margin + 1, want: "rest"},
		"unpaid, and the key may live":       {state: "accepted", age: week + margin, want: "rest"},
		"unpaid, and the key is gone":        {state: "accepted", age: week + margin + 1, want: "pay"},
		"in doubt, while the key lives":      {state: "in_doubt", left: true, age: week - margin, want: "pay"},
		"in doubt, and the key may be gone":  {state: "in_doubt", left: true, age: week - margin + 1, want: "search"},
		"in doubt, a clock an hour behind":   {state: "in_doubt", left: true, age: -time.Hour, want: "pay"},
		"in doubt, a clock farther behind":   {state: "in_doubt", left: true, age: -time.Hour - 1, want: "search"},
		"at the deadline":                    {state: "accepted", deadline: 1, want: "pay"},
		"after the deadline":                 {state: "accepted", deadline: -1, want: "expire"},
		"in doubt, after the deadline":       {state: "in_doubt", left: true, age: 1, deadline: -1, want: "pay"},
		"paid":                               {state: "paid", left: true, age: 2 * week, want: "follow"},
		"completed":                          {state: "completed", left: true, age: 1, want: "none"},
		"refused":                            {state: "refused", deadline: -1, want: "none"},
		"needs a decision":                   {state: "needs_decision", left: true, age: 1, want: "none"},
		"of a state that nobody knows today": {state: "one_of_tomorrow", want: "none"},
	} {
		r := Record{State: c.state, MayHaveLeft: c.left}
		if c.age != 0 {
			r.FirstUsed = birth.Add(-c.age)
		}
		if c.deadline != 0 {
			r.Deadline = birth.Add(c.deadline)
		}
		assert.Equal(t, c.want, string(r.next(birth)), name)
	}
}

// A key that the service has forgotten, and with which nothing can have left, is used for the first time again.
func TestWhatACallKeepsOfTheKeysFirstUse(t *testing.T) {
	const forgotten = 7*24*time.Hour + 2*time.Hour
	quote := &dapi.Quote{}
	for name, c := range map[string]struct {
		age  time.Duration
		left bool
		kept bool
	}{
		"the key may live":               {forgotten, false, true},
		"the key is gone":                {forgotten + 1, false, false},
		"the key is gone, and in doubt":  {forgotten + 1, true, true},
		"just used":                      {0, false, true},
		"used in the future":             {-1, false, false},
		"used in the future, in a doubt": {-1, true, true},
	} {
		for _, kind := range []Kind{KindPayout, KindEscrow, KindEscrowAction} {
			used := birth.Add(-c.age)
			r := Record{Kind: kind, State: moneymovement.PaymentAccepted, MayHaveLeft: c.left, FirstUsed: used,
				FirstQuote: quote, PayoutID: "po_1", EscrowID: "esc_1", Calls: 3}.begin(birth)
			assert.Equal(t, 4, r.Calls, name)
			assert.Equal(t, c.left, r.MayHaveLeft, name)
			assert.Equal(t, moneymovement.PaymentPaying, r.State, name)
			if c.kept {
				assert.Equal(t, used, r.FirstUsed, name)
				assert.Equal(t, quote, r.FirstQuote, name)
				assert.Equal(t, "po_1 esc_1", fmt.Sprint(r.PayoutID, " ", r.EscrowID), name)
				continue
			}
			assert.Equal(t, birth, r.FirstUsed, name)
			assert.Nil(t, r.FirstQuote, name)
			assert.Empty(t, r.PayoutID, name)
			assert.Equal(t, kind != KindEscrow, r.EscrowID != "", "%s: the deal of an action is one of its terms", name)
		}
	}
	transfer := Record{Kind: KindTransfer, State: moneymovement.PaymentInDoubt}.begin(birth)
	assert.True(t, transfer.MayHaveLeft, "it pays in one call")
	assert.Equal(t, moneymovement.PaymentInDoubt, transfer.State)
}

// A record that can be of an older copy of the store is looked for before it is paid.
func TestWhatIsLookedForFirst(t *testing.T) {
	for name, c := range map[string]struct {
		r    Record
		want bool
	}{
		"just changed":               {Record{ChangedAt: birth.Add(-10 * time.Minute)}, false},
		"not changed for a while":    {Record{ChangedAt: birth.Add(-10*time.Minute - 1)}, true},
		"changed in the future":      {Record{ChangedAt: birth.Add(10*time.Minute + 1)}, true},
		"a person decided":           {Record{ChangedAt: birth, Reason: &Reason{Code: ReasonDecided}}, true},
		"the last look did not read": {Record{ChangedAt: birth, Reason: &Reason{Code: ReasonInDoubt}}, true},
		"another reason":             {Record{ChangedAt: birth, Reason: &Reason{Code: ReasonPrice}}, false},
		"in doubt, without an id":    {Record{Kind: KindPayout, MayHaveLeft: true, ChangedAt: birth}, true},
		"in doubt, with a payout":    {Record{Kind: KindPayout, MayHaveLeft: true, PayoutID: "po_1"}, false},
		"in doubt, with a deal":      {Record{Kind: KindEscrow, MayHaveLeft: true, EscrowID: "esc_1"}, false},
		"a transfer in doubt":        {Record{Kind: KindTransfer, MayHaveLeft: true}, false},
	} {
		assert.Equal(t, c.want, c.r.looksFirst(birth), name)
	}
}

// What a call shows of ids stays, also if the next one does not show them. The payout that a person named is dropped if
// it is another payment's.
func TestWhatStaysOfWhatACallShowed(t *testing.T) {
	r := Record{Key: "k", Kind: KindPayout, State: moneymovement.PaymentPaying, AcceptedAt: birth}
	policy := Policy{}.withDefaults()
	shown := found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true, payoutID: "po_1", escrowID: "esc_1",
		hash: "0x1", reason: &Reason{Code: ReasonPrice, Quote: &dapi.Quote{SourceCurrency: "USDC"}}}
	now := birth.Add(time.Minute)
	r = r.after(shown, policy, now)
	assert.Equal(t, birth, r.FirstUsed, "a lost version of the record knew when")
	r = r.after(found{state: moneymovement.PaymentPaid}, policy, now)
	assert.Equal(t, "po_1 esc_1 0x1", fmt.Sprint(r.PayoutID, " ", r.EscrowID, " ", r.TransactionHash))
	assert.Equal(t, "USDC", r.RefusedQuote.SourceCurrency)
	assert.Nil(t, r.Reason)
	assert.True(t, r.MayHaveLeft)
	assert.Equal(t, now, r.PaidAt)

	r = r.after(found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true, wrong: true}, policy, now)
	assert.Empty(t, r.PayoutID)
	assert.True(t, r.PaidAt.IsZero())
}

// Refusals count if they are of the service and about the payment. Looks that could not read make the pauses longer.
func TestWhatCountsAsARefusal(t *testing.T) {
	policy := Policy{Refusals: 2}.withDefaults()
	slug := &Reason{Code: ReasonRefusal, Slug: errors.CodeConflict}
	for name, c := range map[string]struct {
		f          found
		refusals   int
		searches   int
		afterwards moneymovement.PaymentState
	}{
		"refused": {found{state: moneymovement.PaymentNotPaid, reason: slug}, 2, 0,
			moneymovement.PaymentNeedsDecision},
		"not delivered": {found{state: moneymovement.PaymentNotPaid, reason: &Reason{Code: ReasonNotSent}}, 1, 0,
			moneymovement.PaymentAccepted},
		"no reason": {found{state: moneymovement.PaymentNotPaid}, 1, 0, moneymovement.PaymentAccepted},
		"all calls pause": {found{state: moneymovement.PaymentNotPaid, reason: slug, next: outcome.Pause}, 1, 0,
			moneymovement.PaymentAccepted},
		"in doubt": {found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true, reason: slug}, 1, 0,
			moneymovement.PaymentInDoubt},
		"a look that could not read": {found{state: moneymovement.PaymentInDoubt, unread: true}, 1, 1,
			moneymovement.PaymentAccepted},
	} {
		t.Run(name, func(t *testing.T) {
			r := Record{Key: "k", State: moneymovement.PaymentAccepted, Calls: 5, Refusals: 1, FirstUsed: birth}
			r = r.after(c.f, policy, birth)
			assert.Equal(t, c.refusals, r.Refusals)
			assert.Equal(t, c.searches, r.Searches)
			assert.Equal(t, c.afterwards, r.State)
			if r.State == moneymovement.PaymentNeedsDecision {
				assert.Equal(t, ReasonRefusalsUsedUp, r.Reason.Code)
				assert.Equal(t, slug.Slug, r.Reason.Slug)
				assert.Zero(t, r.Due)
				return
			}
			assert.Equal(t, birth.Add(policy.retryAfter("k", 5+c.searches)), r.Due)
		})
	}
}

// A price that was refused is watched for two minutes after its end.
func TestHowLongARefusedPriceIsWatched(t *testing.T) {
	quote := dapi.Quote{SourceAmount: decimal.NewFromInt(5), DestinationAmount: decimal.NewFromInt(4),
		ExpiresAt: birth}
	r := Record{RefusedQuote: &quote}
	assert.True(t, r.offersRefused(&quote, birth.Add(2*time.Minute-1)))
	assert.False(t, r.offersRefused(&quote, birth.Add(2*time.Minute)))
	assert.False(t, r.offersRefused(nil, birth))
	for name, change := range map[string]func(*dapi.Quote){
		"less leaves":  func(q *dapi.Quote) { q.SourceAmount = decimal.NewFromInt(4) },
		"more arrives": func(q *dapi.Quote) { q.DestinationAmount = decimal.NewFromInt(5) },
		"it is new":    func(q *dapi.Quote) { q.ExpiresAt = birth.Add(time.Second) },
	} {
		other := quote
		change(&other)
		assert.False(t, r.offersRefused(&other, birth), name)
	}
}

// Each submission that cannot be stored, with the field that is wrong.
func TestWhatPrepareRefuses(t *testing.T) {
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
	noDeal, wrongDeal, noAction := action, action, action
	noDeal.EscrowID, wrongDeal.EscrowID, noAction.Action = "", "esc/1", ""
	for name, c := range map[string]struct {
		submission  Submission
		field, code string // empty if it can be stored
	}{
		"nothing":              {nil, "submission", "missing"},
		"a pointer":            {&Payment{}, "submission", "unknown_variant"},
		"a payment":            {payment(func(*Payment) {}), "", ""},
		"of no account":        {payment(func(p *Payment) { p.Account = "" }), "account", "missing"},
		"of another account":   {payment(func(p *Payment) { p.Account = "ct_1" }), "account", "invalid_id"},
		"used in an hour":      {used(birth.Add(time.Hour)), "", ""},
		"used later":           {used(birth.Add(time.Hour + 1)), "firstUsed", "out_of_range"},
		"the last deadline":    {due(late), "", ""},
		"the first deadline":   {due(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)), "", ""},
		"a deadline too early": {due(time.Date(-1, 12, 31, 0, 0, 0, 0, time.UTC)), "submission", "out_of_range"},
		"a deadline too late":  {due(late.Add(time.Second)), "submission", "out_of_range"},
		"a price":              {payment(priced(birth)), "", ""},
		"a price without end":  {payment(priced(late.Add(time.Second))), "submission", "invalid"},
		"64 entries":           {payment(func(p *Payment) { p.Metadata = entries(64) }), "", ""},
		"65 entries":           {payment(func(p *Payment) { p.Metadata = entries(65) }), "metadata", "too_long"},
		"16 KiB":               {data("k", strings.Repeat("v", 16<<10-1)), "", ""},
		"more than 16 KiB":     {data("k", strings.Repeat("v", 16<<10)), "metadata", "too_long"},
		"a name without sense": {data("\xff", ""), "metadata", "invalid"},
		"a text without sense": {data("k", "\xff"), "metadata", "invalid"},
		"an action":            {action, "", ""},
		"of no deal":           {noDeal, "escrowId", "missing"},
		"of a wrong deal":      {wrongDeal, "escrowId", "pattern"},
		"no action":            {noAction, "type", "missing"},
		"a transfer":           {TransferPayment{Key: "k", To: appapi.ToQuote{QuoteID: "q"}}, "", ""},
		"a transfer to nobody": {TransferPayment{Key: "k"}, "destination", "unknown_variant"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Prepare(c.submission, birth)
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

// A list may leave out terms of a transfer, and writes ids in its own way. A transfer with other terms is another one.
func TestWhichListedTransferIsThisOne(t *testing.T) {
	five, six := appapi.Transfer{}, appapi.Transfer{}
	five.Amount.Decimal, six.Amount.Decimal = decimal.NewFromInt(5), decimal.NewFromInt(6)
	toContact := Transfer{ContactID: "ct_A1", Amount: decimal.RequireFromString("5.0")}
	for name, c := range map[string]struct {
		asked  Transfer
		listed func(*appapi.Transfer)
		want   bool
	}{
		"nothing is listed":     {toContact, func(*appapi.Transfer) {}, true},
		"the contact":           {toContact, func(l *appapi.Transfer) { l.ContactID = "a1" }, true},
		"another contact":       {toContact, func(l *appapi.Transfer) { l.ContactID = "ct_A2" }, false},
		"the amount":            {toContact, func(l *appapi.Transfer) { *l = five }, true},
		"another amount":        {toContact, func(l *appapi.Transfer) { *l = six }, false},
		"the quote":             {Transfer{QuoteID: "q1"}, func(l *appapi.Transfer) { l.QuoteID = "Q1" }, true},
		"another quote":         {Transfer{QuoteID: "q1"}, func(l *appapi.Transfer) { l.QuoteID = "q2" }, false},
		"the amount of a quote": {Transfer{QuoteID: "q1"}, func(l *appapi.Transfer) { *l = five }, true},
		"the invoice": {Transfer{InvoiceID: "i1"}, func(l *appapi.Transfer) { l.InvoiceID = "i1" },
			true},
		"another invoice": {Transfer{InvoiceID: "i1"}, func(l *appapi.Transfer) { l.InvoiceID = "i2" },
			false},
		"the contact of a quote": {Transfer{QuoteID: "q1"}, func(l *appapi.Transfer) { l.ContactID = "ct_A1" },
			true},
		"another quote of a contact": {toContact, func(l *appapi.Transfer) { l.QuoteID = "q2" }, true},
	} {
		var listed appapi.Transfer
		c.listed(&listed)
		assert.Equal(t, c.want, c.asked.is(&listed), name)
	}
}

// What the status of a deal says about its opening, and about each action. A status of tomorrow says nothing.
func TestWhatADealShows(t *testing.T) {
	const completed, refused, inDoubt = moneymovement.PaymentCompleted, moneymovement.PaymentRefused,
		moneymovement.PaymentInDoubt
	opening := map[dapi.EscrowStatus]moneymovement.PaymentState{
		dapi.EscrowStatusActive: completed, dapi.EscrowStatusReleased: completed, dapi.EscrowStatusRefunded: completed,
		dapi.EscrowStatusExpired: refused, "": inDoubt, "one_of_tomorrow": inDoubt,
	}
	for _, c := range []struct {
		r    Record
		want map[dapi.EscrowStatus]moneymovement.PaymentState
	}{
		{Record{Kind: KindEscrow}, opening},
		{Record{Kind: KindEscrowAction, Action: dapi.EscrowActionTypeApprove}, opening},
		{Record{Kind: KindEscrowAction, Action: dapi.EscrowActionTypeRelease},
			map[dapi.EscrowStatus]moneymovement.PaymentState{
				dapi.EscrowStatusReleased: completed, dapi.EscrowStatusRefunded: refused,
				dapi.EscrowStatusExpired: refused, dapi.EscrowStatusActive: inDoubt, "one_of_tomorrow": inDoubt,
			}},
		{Record{Kind: KindEscrowAction, Action: dapi.EscrowActionTypeRefund},
			map[dapi.EscrowStatus]moneymovement.PaymentState{
				dapi.EscrowStatusRefunded: completed, dapi.EscrowStatusReleased: refused,
				dapi.EscrowStatusExpired: refused, dapi.EscrowStatusActive: inDoubt, "one_of_tomorrow": inDoubt,
			}},
		{Record{Kind: KindEscrowAction, Action: "extend"}, map[dapi.EscrowStatus]moneymovement.PaymentState{
			dapi.EscrowStatusReleased: inDoubt, dapi.EscrowStatusRefunded: inDoubt, dapi.EscrowStatusExpired: inDoubt,
		}},
	} {
		for status, want := range c.want {
			f := dealShows(&c.r, &dapi.Escrow{Status: status})
			assert.Equal(t, want, f.state, "%s %q, a deal that is %q", c.r.Kind, c.r.Action, status)
			assert.Equal(t, want != refused, f.mayHaveLeft)
			assert.Equal(t, want == refused, f.reason != nil && f.reason.Code == ReasonEnded)
		}
	}
}

// Which refusals are about the payment itself and do not pass. The price of a quote passes, unless it is all that a
// transfer has.
func TestWhatIsRefusedForGood(t *testing.T) {
	all := refusals()
	ofQuote, ofContact := &Transfer{QuoteID: "q"}, &Transfer{ContactID: "ct_1"}
	for name, c := range map[string]struct {
		transfer *Transfer
		err      error
		want     bool
	}{
		"nothing":                         {nil, nil, false},
		"an error of no known type":       {nil, errors.New("no"), false},
		"input":                           {nil, &errors.InvalidInput{}, false},
		"not delivered":                   {nil, &errors.NotDelivered{Err: all["validation_failed"]}, false},
		"terms":                           {nil, all["validation_failed"], true},
		"the key of another payment":      {nil, all["idempotency_key_reused"], true},
		"a contact that cannot be paid":   {nil, all["contact_not_payable"], true},
		"the rate":                        {nil, all["rate_limited"], false},
		"the credential":                  {nil, all["token_expired"], false},
		"perhaps made all the same":       {nil, all["internal_error"], false},
		"the price of a payout":           {nil, all["quote_expired"], false},
		"the price of a transfer":         {ofContact, all["quote_expired"], false},
		"the quote of a transfer":         {ofQuote, all["quote_expired"], true},
		"the rate, of a quote's transfer": {ofQuote, all["rate_limited"], false},
	} {
		s := &progress{record: Record{Transfer: c.transfer}}
		assert.Equal(t, c.want, s.refusedForGood(c.err), "%s: %v", name, c.err)
	}
}

// The words of the kinds, which are in stored records.
func TestTheWordsOfTheKinds(t *testing.T) {
	for kind, submission := range map[string]Submission{"payout": Payment{}, "escrow": EscrowPayment{},
		"escrow_action": EscrowAction{}, "transfer": TransferPayment{}} {
		assert.Equal(t, kind, string(submission.record().Kind))
	}
}
