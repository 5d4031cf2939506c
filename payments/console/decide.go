package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	sdkerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/paymentview"
	"github.com/moneymovement/moneymovement-go/payments"
)

// decisionKind is one of the decisions that a person can make.
type decisionKind struct {
	Name, Title string
	// Effect says what will happen, for a person who has not read the documentation.
	Effect string
	// Books reports a decision that is the word of a person who has looked at the service's books.
	Books  bool
	Fields []field
	sample payments.Decision // whether it is possible does not depend on what is in the fields
}

// field is an input of the form.
type field struct {
	Name, Label, Hint string
	Long              bool // text, and not an amount or an id
}

// The names of the fields.
const (
	fieldNote      = "note"
	fieldPayout    = "payout"
	fieldMaxFee    = "max-fee"
	fieldMinAmount = "min-destination-amount"
	fieldCurrency  = "destination-currency"
	fieldTolerance = "tolerance"
	fieldCompare   = "compare"
)

var noteField = field{Name: fieldNote, Label: "Note", Hint: "Why. It is stored with the decision.", Long: true}

// decisionKinds are in the order of the page.
var decisionKinds = []decisionKind{
	{Name: "new-bounds", Title: "New bounds", sample: payments.NewBounds(dapi.Bounds{}),
		Effect: "The payment goes on with these bounds of the price. It is booked anew, when the price that was " +
			"refused has ended, which takes up to two minutes. If the bounds do not limit what arrives, the next " +
			"price must be as good as the price that was refused. It may be paid.",
		Fields: []field{
			{Name: fieldMaxFee, Label: "Highest fee", Hint: "In the asset that is debited, such as 2.50. " +
				"Empty sets no limit, and 0 allows no fee."},
			{Name: fieldMinAmount, Label: "Lowest amount that may arrive", Hint: "Empty sets no limit."},
			{Name: fieldCurrency, Label: "Currency of that amount", Hint: "Such as EUR."},
			{Name: fieldTolerance, Label: "Tolerance", Hint: "The part by which a price may be worse than the one " +
				"that it is compared with, such as 0.005 for half a percent. Empty is 0."},
		}},
	{Name: "retry", Title: "Retry", sample: payments.Retry(),
		Effect: "The same call is made again, with the same key and the same bounds, at once or when a refused " +
			"price has ended. The payment may be paid. First remove the reason: pay money in, or update the contact."},
	{Name: "cancel", Title: "Cancel", sample: payments.Cancel(""), Fields: []field{noteField},
		Effect: "The payment is refused, and never made. No money can have left for it. Its key cannot be used again."},
	{Name: "was-paid", Title: "It was paid", Books: true, sample: payments.WasPaid(""),
		Effect: "The payment counts as paid, because you have found it in the service's books. With the id of the " +
			"payout, it is followed from there. If you are wrong, the payee does not get the money.",
		Fields: []field{{Name: fieldPayout, Label: "Id of the payout", Hint: "As in the service's books, po_..."}}},
	{Name: "was-not-paid", Title: "It was not paid", Books: true, sample: payments.WasNotPaid(""),
		Effect: "The payment is refused, because you have read the service's books, and they do not have it. If " +
			"you are wrong, and it is paid once more with another key, the payee gets the money twice.",
		Fields: []field{noteField}},
}

func kindOf(name string) *decisionKind {
	for i := range decisionKinds {
		if decisionKinds[i].Name == name {
			return &decisionKinds[i]
		}
	}
	return nil
}

// decidePage is the form of a decision, and its confirmation.
type decidePage struct {
	Key      moneymovement.Key
	State    string
	Why      string
	Kind     decisionKind
	Values   map[string]string
	Compare  []choice // the prices to compare with, for new bounds
	Problems []string
	Seen     payments.Position
	Token    string
	Confirm  bool               // what was written is shown, and nothing can be changed
	Result   []paymentview.Line // what will be stored
}

// choice is a price to compare with.
type choice struct {
	Value, Label string
	Chosen       bool
}

// The prices that new bounds can compare with.
const (
	compareKept = "kept"
	compareSeen = "refused"
	compareNone = "none"
)

// newDecidePage returns the page for a payment as it is now.
func (q *request) newDecidePage(record payments.Record, kind decisionKind) decidePage {
	page := decidePage{Key: record.Key, State: string(record.State), Kind: kind, Seen: record.Position,
		Token:  q.tokens.issue(q.author, "decide", string(record.Key), string(record.Position)),
		Values: map[string]string{}}
	if record.Reason != nil {
		page.Why = record.Reason.Message
	}
	return page
}

// ask shows the form of a decision, with the bounds as they are. A decision without fields is shown for confirmation.
func (q *request) ask() {
	query := q.r.URL.Query()
	kind := kindOf(query.Get("decision"))
	if kind == nil {
		q.fail(http.StatusBadRequest, "There is no such decision.")
		return
	}
	record, found := q.find(moneymovement.Key(query.Get("key")))
	if !found {
		return
	}
	if err := record.Allows(kind.sample); err != nil {
		q.refused(err, record.Key)
		return
	}
	page := q.newDecidePage(record, *kind)
	page.Confirm = len(kind.Fields) == 0
	if kind.Name == "new-bounds" {
		page.fillBounds(record)
		page.compareWith(record, page.Values[fieldCompare])
	}
	q.showDecision(http.StatusOK, page)
}

func (q *request) showDecision(status int, page decidePage) {
	q.show(status, "decide", page.Kind.Title+": payment "+string(page.Key), page)
}

func (p *decidePage) fillBounds(r payments.Record) {
	if r.Bounds.MaxFee != nil {
		p.Values[fieldMaxFee] = r.Bounds.MaxFee.String()
	}
	if r.Bounds.MinDestinationAmount != nil {
		p.Values[fieldMinAmount] = r.Bounds.MinDestinationAmount.String()
	}
	p.Values[fieldCurrency] = r.Bounds.DestinationCurrency
	if !r.Bounds.QuoteTolerance.IsZero() {
		p.Values[fieldTolerance] = r.Bounds.QuoteTolerance.String()
	}
	switch limits := r.Bounds.MinDestinationAmount != nil || r.Bounds.DestinationCurrency != ""; {
	case r.Bounds.NoWorseThan != nil:
		p.Values[fieldCompare] = compareKept
	case refusedPrice(r) != nil && !limits:
		p.Values[fieldCompare] = compareSeen
	default:
		p.Values[fieldCompare] = compareNone
	}
}

// compareWith offers the prices that are known.
func (p *decidePage) compareWith(r payments.Record, chosen string) {
	add := func(value, label string) {
		p.Compare = append(p.Compare, choice{value, label, value == chosen})
	}
	if r.Bounds.NoWorseThan != nil {
		add(compareKept, "The price of the bounds: "+paymentview.Quote(r.Bounds.NoWorseThan))
	}
	refused := refusedPrice(r)
	if refused != nil {
		add(compareSeen, "The price that was refused: "+paymentview.Quote(refused))
	}
	switch {
	case refused != nil:
		add(compareNone, "None: only the lowest amount that may arrive is a limit")
	case len(p.Compare) > 0:
		add(compareNone, "None")
	}
}

// refusedPrice returns the price that was refused if another price can be compared with it, and nil otherwise.
func refusedPrice(r payments.Record) *dapi.Quote {
	q := r.RefusedQuote
	if q == nil || !q.SourceAmount.IsPositive() || !q.DestinationAmount.IsPositive() || q.SourceCurrency == "" ||
		q.DestinationCurrency == "" {
		return nil
	}
	return q
}

// compared adds the price that a form says to bounds. If they do not limit what arrives, it adds the price that was
// refused, because the processor does so, too: the person confirms what is stored.
func compared(r payments.Record, bounds dapi.Bounds, chosen string) (_ dapi.Bounds, problem string) {
	refused := refusedPrice(r)
	limits := bounds.MinDestinationAmount != nil || bounds.DestinationCurrency != ""
	switch {
	case chosen == compareKept && r.Bounds.NoWorseThan != nil:
		bounds.NoWorseThan = r.Bounds.NoWorseThan
	case chosen == compareSeen && refused != nil, chosen == "" && !limits:
		bounds.NoWorseThan = refused
	case chosen == compareNone && refused != nil && !limits:
		return bounds, "Without a price that the next one is compared with, write the lowest amount that may arrive."
	case chosen != compareNone && chosen != "":
		return bounds, "The price that the next one is compared with is not offered on this page."
	}
	return bounds, ""
}

// decide takes the form of a decision: first for its confirmation, and then to store it.
func (q *request) decide() {
	form := q.r.PostFormValue
	key, seen := moneymovement.Key(form("key")), payments.Position(form("seen"))
	if err := q.tokens.check(form("token"), q.author, "decide", string(key), string(seen)); err != nil {
		q.failAbout(http.StatusForbidden, "Nothing was stored: "+err.Error()+".", key)
		return
	}
	kind := kindOf(form("decision"))
	if kind == nil {
		q.failAbout(http.StatusBadRequest, "There is no such decision.", key)
		return
	}
	record, found := q.find(key)
	if !found {
		return
	}
	if err := record.Allows(kind.sample.Seen(payments.Record{Position: seen})); err != nil {
		q.refused(err, key)
		return
	}
	page := q.newDecidePage(record, *kind)
	for _, f := range append(kind.Fields, field{Name: fieldCompare}) {
		page.Values[f.Name] = strings.TrimSpace(form(f.Name))
	}
	if kind.Name == "new-bounds" {
		page.compareWith(record, page.Values[fieldCompare])
	}
	decision, result, problems := build(record, *kind, form)
	if kind.Books && form("books") != "yes" {
		problems = append(problems, "Look at the service's books first, and say that you have.")
	}
	decision = decision.By(q.author).Seen(payments.Record{Position: seen})
	if len(problems) == 0 {
		if invalid, ok := errors.AsType[*sdkerrors.InvalidInput](record.Allows(decision)); ok {
			problems = problemsOf(invalid)
		}
	}
	switch {
	case len(problems) > 0:
		page.Problems = problems
		q.showDecision(http.StatusUnprocessableEntity, page)
	case form("step") != "store":
		page.Confirm, page.Result = true, result
		q.showDecision(http.StatusOK, page)
	default:
		q.store(page, decision)
	}
}

// storeWithin is how long a decision may take. It does not end with the browser's request, which would leave a lease
// behind.
const storeWithin = 30 * time.Second

func (q *request) store(page decidePage, decision payments.Decision) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.r.Context()), storeWithin)
	defer cancel()
	_, err := q.processor.Decide(ctx, page.Key, decision)
	if invalid, ok := errors.AsType[*sdkerrors.InvalidInput](err); ok { // such as bounds that do not fit the payment
		page.Problems = problemsOf(invalid)
		q.showDecision(http.StatusUnprocessableEntity, page)
		return
	}
	if err != nil {
		q.refused(err, page.Key)
		return
	}
	query := url.Values{"key": {string(page.Key)}, "stored": {"yes"}}
	q.w.Header().Set("Location", "payment?"+query.Encode()) // http.Redirect would lead out of the prefix
	q.w.WriteHeader(http.StatusSeeOther)
}

func problemsOf(invalid *sdkerrors.InvalidInput) (problems []string) {
	for _, f := range invalid.Fields {
		problems = append(problems, strings.TrimSpace(f.Field+" "+f.Message)+".")
	}
	return problems
}

// refused is the response to a decision that was not stored.
func (q *request) refused(err error, key moneymovement.Key) {
	if refused, ok := errors.AsType[*payments.NotPossible](err); ok {
		says := fmt.Sprintf("Nothing was stored. The payment is %s, and this decision is not possible: %s.",
			refused.State, refused.Problem)
		if refused.Changed {
			says = fmt.Sprintf("Nothing was stored. The payment has changed since you opened it, and is %s now. "+
				"Somebody may have decided about it: look at it again.", refused.State)
		}
		q.failAbout(http.StatusConflict, says, key)
		return
	}
	if _, busy := errors.AsType[*payments.CallInProgress](err); busy {
		q.failAbout(http.StatusConflict, "Nothing was stored. A call is being made for this payment right now: look "+
			"at it again in a minute, and decide then if it still needs you.", key)
		return
	}
	q.storeFailed(err, key, true)
}

// plainAmount leaves no doubt about separators. No real amount is longer, and a long one would take long to read.
var plainAmount = regexp.MustCompile(`^[0-9]{1,40}(\.[0-9]{1,40})?$`)

// build returns the decision that a form says, and what of it a person confirms.
func build(
	r payments.Record, kind decisionKind, form func(name string) string,
) (d payments.Decision, result []paymentview.Line, problems []string) {
	text := func(name string) string { return strings.TrimSpace(form(name)) }
	note := text(fieldNote)
	switch kind.Name {
	case "retry":
		return payments.Retry(), nil, nil
	case "cancel":
		return payments.Cancel(note), []paymentview.Line{{Name: "note", Value: note}}, nil
	case "was-not-paid":
		return payments.WasNotPaid(note), []paymentview.Line{{Name: "note", Value: note}}, nil
	case "was-paid":
		id := text(fieldPayout)
		return payments.WasPaid(dapi.PayoutID(id)), []paymentview.Line{{Name: "payout", Value: id}}, nil
	}
	amount := func(name, label string) *decimal.Decimal {
		written := text(name)
		if written == "" {
			return nil
		}
		if !plainAmount.MatchString(written) {
			problems = append(problems, label+": write an amount with digits and one point at most, such as 25 or "+
				"1250.50.")
			return nil
		}
		value, err := decimal.NewFromString(written)
		if err != nil {
			problems = append(problems, label+": "+err.Error()+".")
		}
		return &value
	}
	bounds := dapi.Bounds{MaxFee: amount(fieldMaxFee, "Highest fee"),
		MinDestinationAmount: amount(fieldMinAmount, "Lowest amount that may arrive"),
		DestinationCurrency:  strings.ToUpper(text(fieldCurrency))}
	if tolerance := amount(fieldTolerance, "Tolerance"); tolerance != nil {
		bounds.QuoteTolerance = *tolerance
	}
	bounds, problem := compared(r, bounds, text(fieldCompare))
	if problem != "" {
		problems = append(problems, problem)
	}
	result = paymentview.Bounds(bounds)
	if len(result) == 0 {
		result = []paymentview.Line{{Name: "bounds", Value: "none: any fee is accepted"}}
	}
	return payments.NewBounds(bounds), result, problems
}
