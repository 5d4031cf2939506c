package simulation

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/oracle"
	"github.com/moneymovement/moneymovement-go/payments"
)

// records are the cases of a run, by label. Each payment has one, and so have the logins and the ends of all payments.
// A case does not say what happens in the other ones meanwhile: a step more or less in one does not change the others.
type records map[string]*record

// record leaves out what a program stores again without a change, and what it reads several times in a row: how often
// a program looks depends on the pauses of all payments.
type record struct {
	*oracle.Case

	stored, last string
}

// ends is the label of the ends of all payments.
const ends = "ends"

func (w *World) record() records {
	all := records{}
	if w.plan.Record == "" || !oracle.Recording() {
		return all
	}
	labels := []string{"session", ends}
	for _, o := range w.orders {
		labels = append(labels, o.ID)
	}
	for _, label := range labels {
		all[label] = &record{Case: oracle.Named(fmt.Sprintf("%s/seed %d/%s", w.plan.Record, w.seed, label))}
	}
	return all
}

// of returns a case that records nothing if there is none with the label.
func (r records) of(label string) *oracle.Case {
	if found := r[label]; found != nil {
		return found.Case
	}
	return nil
}

func (r records) sent(request *sent) {
	to := r[request.label]
	if to == nil {
		return
	}
	again := request.request.Method == http.MethodGet && request.operation == to.last
	if to.last = request.operation; !again {
		to.Sent(request.request)
	}
}

// returned records how a call of Pay ended.
func (r records) returned(of *row, p dapi.Payment, err error) {
	r.of(of.ID).Ended(oracle.End{State: string(p.State), Unpaid: p.Unpaid, RetryAt: p.RetryAt, Err: err})
}

// saved records what package payments has stored.
func (r records) saved(stored *payments.Record) {
	to := r[string(stored.Key)]
	if to == nil {
		return
	}
	end := oracle.End{State: string(stored.State), Unpaid: !stored.MayHaveLeft}
	if stored.Reason != nil {
		end.Err = errors.New(stored.Reason.Message)
	}
	if now := fmt.Sprint(end.State, end.Unpaid); now != to.stored {
		to.stored = now
		to.Ended(end)
	}
}

// recorded writes the cases at the end of a run.
func (w *World) recorded() (err error) {
	for _, o := range w.orders {
		ended, _ := w.program.end(o)
		w.network.records.of(ends).Ended(oracle.End{State: o.ID + " " + string(ended)})
	}
	for _, of := range w.network.records {
		err = errors.Join(err, of.Close())
	}
	return err
}
