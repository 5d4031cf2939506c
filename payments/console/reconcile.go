package console

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	sdkerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/paymentview"
	"github.com/moneymovement/moneymovement-go/payments"
)

// reconcilePage is the form of a reconciliation, and its report.
type reconcilePage struct {
	Account, From, To string
	Token             string
	Problems          []string
	Report            *reportView
}

type reportView struct {
	From, To         string
	Matched, Pending int
	Differences      []differenceView
}

type differenceView struct {
	Kind, Key, State, Of, Stored, Entry, Meaning string
}

// dayForm is how a browser writes a day.
const dayForm = "2006-01-02"

// meanings say what to do about each kind of difference.
var meanings = map[payments.DifferenceKind]string{
	payments.UnknownEntry:  "No stored payment explains this entry: find out who made it.",
	payments.MissingEntry:  "The payment has no entry of its own in the ledger: ask the service.",
	payments.OtherAmount:   "The ledger has another amount or asset than was asked for.",
	payments.MoneyCameBack: "The money came back: pay again with a new key if it is still owed.",
	payments.PaidInLedger: "The ledger shows it as paid. In doubt, it settles itself. If it is refused or needs a " +
		"decision, do not pay it again.",
}

func (q *request) newReconcilePage() reconcilePage {
	today := q.now().UTC()
	return reconcilePage{Account: string(payments.OwnAccount), From: today.AddDate(0, 0, -1).Format(dayForm),
		To: today.Format(dayForm), Token: q.tokens.issue(q.author, "reconcile")}
}

func (q *request) askReconcile() {
	q.show(http.StatusOK, "reconcile", "Reconciliation", q.newReconcilePage())
}

// reconcile is a POST, since it can store that money came back.
func (q *request) reconcile() {
	form := q.r.PostFormValue
	if err := q.tokens.check(form("token"), q.author, "reconcile"); err != nil {
		q.fail(http.StatusForbidden, "Nothing was compared: "+err.Error()+".")
		return
	}
	page := q.newReconcilePage()
	page.Account, page.From, page.To = strings.TrimSpace(form("account")), form("from"), form("to")
	from, errFrom := time.Parse(dayForm, page.From)
	to, errTo := time.Parse(dayForm, page.To)
	if errFrom != nil || errTo != nil {
		page.Problems = []string{"Write both days as 2026-01-31."}
		q.show(http.StatusUnprocessableEntity, "reconcile", "Reconciliation", page)
		return
	}
	report, err := q.processor.Reconcile(q.r.Context(),
		payments.ReconcileParams{Account: dapi.ClientID(page.Account), From: from, To: to.AddDate(0, 0, 1)})
	_, unreadable := errors.AsType[*payments.Unreadable](err)
	invalid, wrong := errors.AsType[*sdkerrors.InvalidInput](err)
	switch {
	case wrong:
		page.Problems = problemsOf(invalid)
		q.show(http.StatusUnprocessableEntity, "reconcile", "Reconciliation", page)
		return
	case unreadable:
		page.Problems = []string{"Some stored payments cannot be read, and were not compared: " + err.Error()}
	case err != nil:
		q.logger.ErrorContext(q.r.Context(), "console: the reconciliation failed", "by", q.author, "error", err)
		q.fail(http.StatusBadGateway,
			"The ledger or the store could not be read to the end: the log says why. Try again.")
		return
	}
	page.Report = viewOf(report)
	q.show(http.StatusOK, "reconcile", "Reconciliation", page)
}

func viewOf(report payments.Report) *reportView {
	view := &reportView{From: paymentview.Time(report.From), To: paymentview.Time(report.To), Matched: report.Matched,
		Pending: report.Pending}
	for _, d := range report.Differences {
		shown := differenceView{Kind: string(d.Kind), Key: string(d.Key), State: string(d.State),
			Of: string(d.PayoutID) + string(d.EscrowID), Meaning: meanings[d.Kind]}
		if d.Stored != nil {
			shown.Stored = d.Stored.String()
		}
		if d.Entry != nil {
			shown.Entry = strings.Join([]string{string(d.Entry.ID), string(d.Entry.Type), d.Entry.Amount.String(),
				string(d.Entry.Currency)}, " ")
		}
		view.Differences = append(view.Differences, shown)
	}
	return view
}
