package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
)

// serve pays while work runs, which submits payments to the processor and ends with the process.
func serve(
	ctx context.Context, platform *dapi.Integrator, path string, logger *slog.Logger,
	work func(context.Context, *payments.Processor) error,
) (err error) {
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return err // *sqlite.InUse: another process has the file; *sqlite.Damaged says how to go on
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	processor, err := payments.New(store, payments.IntegratorServices(platform), payments.Config{Logger: logger})
	if err != nil {
		return err
	}
	if _, err := processor.Resume(ctx); err != nil {
		return err
	}
	defer func() { // Stop begins no more calls. What does not finish in time is stored, and the next start goes on
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		err = errors.Join(err, processor.Stop(stopping))
	}()
	return work(ctx, processor)
}

// backend accepts payments over HTTP, and leaves them to a processor.
type backend struct {
	processor *payments.Processor
	client    dapi.ClientID   // that pays
	maxFee    decimal.Decimal // of a payment, in USDC
}

// payment is the body of a request and of a response.
type payment struct {
	ID        string                     `json:"id"` // of your own row, such as invoice-42
	ContactID dapi.ContactID             `json:"contactId,omitempty"`
	Amount    decimal.Decimal            `json:"amount,omitzero"` // in USDC
	State     moneymovement.PaymentState `json:"state,omitempty"`
	PayoutID  dapi.PayoutID              `json:"payoutId,omitempty"`
	Problem   string                     `json:"problem,omitempty"`
}

// handler serves POST /payments with a body such as {"id":"invoice-42","contactId":"ct_1","amount":"12.50"}, and GET
// /payments/{id}. However many requests come, an id is paid once: its key derives from it. It does not know who asks:
// put it behind your own authentication.
func (b *backend) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /payments", func(w http.ResponseWriter, r *http.Request) {
		var asked payment
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&asked); err != nil || asked.ID == "" {
			write(w, http.StatusBadRequest, payment{Problem: "the body needs id, contactId and amount"})
			return
		}
		record, err := b.processor.Submit(r.Context(), payments.Payment{ // from here on, it does not need the request
			Key:      moneymovement.DeriveKey("payment", asked.ID),
			Account:  b.client,
			Payout:   dapi.PayoutCreate{ContactID: asked.ContactID, Amount: asked.Amount, Currency: dapi.USDC},
			Bounds:   dapi.Bounds{MaxFee: &b.maxFee},
			Metadata: map[string]string{"id": asked.ID},
		})
		respond(w, http.StatusAccepted, record, err)
	})
	mux.HandleFunc("GET /payments/{id}", func(w http.ResponseWriter, r *http.Request) {
		record, err := b.processor.Get(r.Context(), moneymovement.DeriveKey("payment", r.PathValue("id")))
		respond(w, http.StatusOK, record, err)
	})
	return mux
}

func respond(w http.ResponseWriter, status int, record payments.Record, err error) {
	_, unknown := errors.AsType[*payments.NotFound](err)
	_, reused := errors.AsType[*errors.IdempotencyKeyReused](err)
	invalid, wrong := errors.AsType[*errors.InvalidInput](err)
	switch {
	case unknown:
		write(w, http.StatusNotFound, payment{Problem: "there is no such payment"})
	case reused:
		write(w, http.StatusConflict, payment{Problem: "this id has other terms"})
	case wrong:
		write(w, http.StatusUnprocessableEntity, payment{Problem: invalid.Error()})
	case err != nil:
		write(w, http.StatusServiceUnavailable, payment{Problem: "it may be stored: ask again, with the same id"})
	default:
		write(w, status, view(record))
	}
}

// view returns what a customer may know about a payment.
func view(record payments.Record) payment {
	p := payment{ID: record.Metadata["id"], ContactID: record.Payout.ContactID, Amount: record.Payout.Amount,
		State: record.State, PayoutID: record.PayoutID}
	if record.Reason != nil {
		p.Problem = record.Reason.Message
	}
	return p
}

func write(w http.ResponseWriter, status int, body payment) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error here means that the client has gone
}

// listen serves requests until ctx ends, and then finishes those under way.
func (b *backend) listen(ctx context.Context, listener net.Listener) error {
	web, stopped := &http.Server{Handler: b.handler(), ReadTimeout: 10 * time.Second}, make(chan error, 1)
	context.AfterFunc(ctx, func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		stopped <- web.Shutdown(stopping)
	})
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// changeRows is your database: Save commits what you do about a change together with the position of the change.
type changeRows interface {
	Position(ctx context.Context) (payments.Position, error)
	Save(ctx context.Context, record payments.Record) error // the position is record.Position
}

// follow brings your rows up to date until ctx ends.
func follow(ctx context.Context, processor *payments.Processor, db changeRows) error {
	position, err := db.Position(ctx) // the zero position is the beginning
	if err != nil {
		return err
	}
	for record, err := range processor.Watch(ctx, position) {
		if _, unreadable := errors.AsType[*payments.Unreadable](err); unreadable {
			slog.ErrorContext(ctx, "payment", "key", record.Key, "error", err)
			continue // this one is left alone, and the others go on
		}
		if err != nil {
			return err // also the error of ctx
		}
		if err := db.Save(ctx, record); err != nil {
			return err
		}
	}
	return nil
}

// raiseFees lets payments go on whose fee was too high, up to a limit.
func raiseFees(ctx context.Context, processor *payments.Processor, limit decimal.Decimal) error {
	waiting := payments.ListParams{
		States: []moneymovement.PaymentState{moneymovement.PaymentNeedsDecision}}
	for record, err := range processor.List(ctx, waiting) {
		if _, unreadable := errors.AsType[*payments.Unreadable](err); unreadable {
			continue // follow reports it
		}
		if err != nil {
			return err
		}
		if r := record.Reason; r.Code != payments.ReasonPrice || r.Bound != dapi.BoundMaxFee ||
			r.Quote.Fee.GreaterThan(limit) {
			continue // this one is for a person
		}
		bounds := record.Bounds // keep the others
		bounds.MaxFee = &limit
		if _, err := processor.Decide(ctx, record.Key, payments.NewBounds(bounds)); err != nil {
			return err // *payments.CallInProgress: somebody decides at the same time
		}
	}
	return nil
}

// reconcileDay compares the day before now with the ledger, and returns how many differences there are.
func reconcileDay(
	ctx context.Context, processor *payments.Processor, accounts []dapi.ClientID, now time.Time,
) (differences int, err error) {
	end := now.UTC().Truncate(24 * time.Hour)
	for _, account := range accounts {
		report, err := processor.Reconcile(ctx,
			payments.ReconcileParams{Account: account, From: end.AddDate(0, 0, -1), To: end})
		if err != nil {
			return differences, err // run it again: nothing is counted twice
		}
		for _, d := range report.Differences {
			slog.WarnContext(ctx, "reconcile", "account", account, "difference", d.String())
		}
		differences += len(report.Differences)
	}
	return differences, nil
}
