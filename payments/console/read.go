package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/paymentview"
	"github.com/moneymovement/moneymovement-go/payments"
)

// rowsOfPage is how many payments a page of the list has.
const rowsOfPage = 50

// allStates is the filter that shows every payment.
const allStates = "all"

// listPage is the list of payments.
type listPage struct {
	States  []stateLink
	State   string
	Account string
	Rows    []row
	After   string // the key after which this page begins, "" for the first page
	Next    string // the link of the next page, "" for the last one
	First   string // the link of the first page
}

type stateLink struct {
	Name    string
	Count   int
	Link    string
	Current bool
}

type row struct {
	Key                                                         moneymovement.Key
	State, Kind, Account, Amount, Currency, Changed, Why, Wrong string
}

func (q *request) list() {
	query := q.r.URL.Query()
	page := listPage{State: query.Get("state"), Account: query.Get("account"), After: query.Get("after")}
	if page.State == "" {
		page.State = string(moneymovement.PaymentNeedsDecision) // what waits for a person
	}
	params := payments.ListParams{After: moneymovement.Key(page.After)}
	state := moneymovement.PaymentState(page.State)
	switch {
	case slices.Contains(moneymovement.StoredPaymentStates(), state):
		params.States = []moneymovement.PaymentState{state}
	case page.State != allStates:
		q.fail(http.StatusBadRequest, "There is no state "+page.State+".")
		return
	}
	if page.Account != "" {
		account := dapi.ClientID(page.Account)
		params.Account = &account
	}
	summary, err := q.processor.Summary(q.r.Context())
	if err != nil {
		q.storeFailed(err, "", false)
		return
	}
	page.States = page.links(summary)
	for record, err := range q.processor.List(q.r.Context(), params) {
		_, unreadable := errors.AsType[*payments.Unreadable](err)
		if err != nil && !unreadable {
			q.storeFailed(err, "", false)
			return
		}
		if len(page.Rows) == rowsOfPage {
			page.Next = page.link(page.State, page.Rows[rowsOfPage-1].Key)
			break
		}
		page.Rows = append(page.Rows, rowOf(record))
	}
	page.First = page.link(page.State, "")
	q.show(http.StatusOK, "list", "Payments", page)
}

// links lead to each state, with how many payments are in it.
func (p *listPage) links(summary payments.Summary) []stateLink {
	total, links := 0, []stateLink{}
	for _, state := range moneymovement.StoredPaymentStates() {
		count := summary.ByState[state]
		total += count
		links = append(links, stateLink{string(state), count, p.link(string(state), ""), string(state) == p.State})
	}
	return append(links, stateLink{allStates, total, p.link(allStates, ""), p.State == allStates})
}

func (p *listPage) link(state string, after moneymovement.Key) string {
	query := url.Values{"state": {state}}
	if p.Account != "" {
		query.Set("account", p.Account)
	}
	if after != "" {
		query.Set("after", string(after))
	}
	return "./?" + query.Encode()
}

func rowOf(r payments.Record) row {
	if err := r.Err(); err != nil {
		return row{Key: r.Key, Wrong: err.Error()}
	}
	shown := row{Key: r.Key, State: string(r.State), Kind: string(r.Kind), Account: string(r.Account),
		Changed: paymentview.Time(r.ChangedAt)}
	shown.Amount, shown.Currency = paymentview.Terms(r)
	if r.Reason != nil {
		shown.Why = string(r.Reason.Code)
	}
	return shown
}

// paymentPage is the life of one payment.
type paymentPage struct {
	Key       moneymovement.Key
	State     string
	Stored    string // what this person has just decided, "" for nothing
	Sections  []paymentview.Section
	Possible  []decisionKind
	Otherwise []impossible
}

// impossible is a decision that does not fit the payment, and why.
type impossible struct{ Title, Why string }

// find returns the payment that the request names, or writes an error.
func (q *request) find(key moneymovement.Key) (payments.Record, bool) {
	if key == "" {
		q.fail(http.StatusBadRequest, "The key of the payment is missing.")
		return payments.Record{}, false
	}
	record, err := q.processor.Get(q.r.Context(), key)
	if err != nil {
		q.storeFailed(err, key, false)
		return payments.Record{}, false
	}
	return record, true
}

func (q *request) payment() {
	query := q.r.URL.Query()
	record, found := q.find(moneymovement.Key(query.Get("key")))
	if !found {
		return
	}
	page := paymentPage{Key: record.Key, State: string(record.State), Sections: paymentview.Sections(record)}
	if n := len(record.Decisions); n > 0 && query.Has("stored") && record.Decisions[n-1].By == q.author {
		page.Stored = record.Decisions[n-1].What
	}
	for _, kind := range decisionKinds {
		err := record.Allows(kind.sample)
		refused, notPossible := errors.AsType[*payments.NotPossible](err)
		switch {
		case notPossible:
			page.Otherwise = append(page.Otherwise, impossible{kind.Title, refused.Problem})
		case err != nil:
			q.storeFailed(fmt.Errorf("%s: %w", kind.Name, err), record.Key, false)
			return
		default:
			page.Possible = append(page.Possible, kind)
		}
	}
	q.show(http.StatusOK, "payment", "Payment "+string(record.Key), page)
}
