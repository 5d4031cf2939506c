package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// maxFee is the highest fee of a payment that the server accepts, in USDC.
var maxFee = decimal.NewFromInt(1)

// server serves POST /pay with a body such as {"id":"invoice-42","contactId":"ct_1","amount":"12.50"}.
type server struct {
	account *dapi.Account
	journal *journal
	grace   time.Duration // that payments under way have at the end

	mu       sync.Mutex
	stopping bool
	ids      map[string]bool // of the payments under way
	underWay sync.WaitGroup
}

// serve first takes up the payments that an earlier process left in doubt, and accepts new ones, until ctx ends. Then
// it accepts no more and waits for the payments under way. When the grace is over, it cancels those that are left: they
// are in doubt in the journal, and the next start takes them up.
func (s *server) serve(ctx context.Context, listener net.Listener) error {
	// Neither SIGTERM nor a client that closes its connection cancels a payment. Only the end of the grace does.
	paying, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	for _, left := range s.journal.inDoubt() {
		if s.begin(left.ID) == nil {
			go func() {
				defer s.end(left.ID)
				_, _ = s.pay(paying, left) // the journal has the result
			}()
		}
	}

	mux := http.NewServeMux()
	mux.HandleFunc("POST /pay", func(w http.ResponseWriter, r *http.Request) { s.accept(paying, w, r) })
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	var problem error
	select {
	case problem = <-failed:
	case <-ctx.Done():
	}

	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	overtime := time.AfterFunc(s.grace, cancel)
	defer overtime.Stop()
	s.underWay.Wait() // results included: they must be written
	return errors.Join(problem, closeConnections(context.WithoutCancel(ctx), web))
}

// closeConnections gives the last responses a second. Connections that are open then carry no payment: Shutdown waits
// for those on which nothing was asked yet as well.
func closeConnections(ctx context.Context, web *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := web.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return web.Close()
}

var (
	errStopping = errors.New("the server is stopping, and this request paid nothing: ask again later")
	errUnderWay = errors.New("another request is paying this id: ask again later")
)

// begin notes that a payment is under way, until end is called. It returns an error if the payment must not begin.
func (s *server) begin(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping:
		return errStopping
	case s.ids[id]:
		return errUnderWay
	case s.ids == nil:
		s.ids = map[string]bool{}
	}
	s.ids[id] = true
	s.underWay.Add(1)
	return nil
}

func (s *server) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ids, id)
	s.underWay.Done()
}

// accept serves one request.
func (s *server) accept(paying context.Context, w http.ResponseWriter, r *http.Request) {
	var asked payment
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&asked); err != nil || asked.ID == "" {
		respond(w, http.StatusBadRequest, payment{Note: "the body needs id, contactId and amount"})
		return
	}
	if err := s.begin(asked.ID); err != nil {
		w.Header().Set("Retry-After", "10")
		respond(w, http.StatusServiceUnavailable, payment{ID: asked.ID, Note: err.Error()})
		return
	}
	defer s.end(asked.ID)
	known, found := s.journal.get(asked.ID)
	switch {
	case !found:
		known = payment{ID: asked.ID, ContactID: asked.ContactID, Amount: asked.Amount}
	case known.ContactID != asked.ContactID || !known.Amount.Equal(asked.Amount):
		respond(w, http.StatusConflict, payment{ID: asked.ID, Note: "this id has other terms"})
		return
	}
	result, err := s.pay(paying, known)
	switch {
	case err != nil:
		respond(w, http.StatusInternalServerError, payment{ID: asked.ID, Note: "the journal cannot be written"})
	default:
		respond(w, statusOf(result.State), result)
	}
}

// pay makes a payment and writes it to the journal: before the call, before each signature and after the call. The
// error says that the journal cannot be written: the payment is not made then, or is in doubt.
func (s *server) pay(ctx context.Context, p payment) (payment, error) {
	if p.State == moneymovement.PaymentPaid || p.State == moneymovement.PaymentEnded {
		return p, nil
	}
	p.State = moneymovement.PaymentInDoubt // this is what the payment is if the process ends now
	if err := s.journal.write(p); err != nil {
		return p, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	made, err := s.account.Payouts.Pay(ctx,
		dapi.PayoutCreate{ContactID: p.ContactID, Amount: p.Amount, Currency: dapi.USDC},
		moneymovement.DeriveKey("server", p.ID),
		dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: &maxFee}, History: p.History,
			Journal: func(_ context.Context, history dapi.History) error {
				p.History = history
				return s.journal.write(p)
			}})
	p.State, p.History, p.Note = made.State, made.History, ""
	if err != nil {
		p.Note = err.Error()
	}
	return p, s.journal.write(p)
}

func statusOf(state moneymovement.PaymentState) int {
	switch state {
	case moneymovement.PaymentPaid:
		return http.StatusOK
	case moneymovement.PaymentNotPaid:
		return http.StatusServiceUnavailable
	case moneymovement.PaymentNeedsDecision, moneymovement.PaymentEnded:
		return http.StatusUnprocessableEntity
	default: // in doubt
		return http.StatusAccepted
	}
}

func respond(w http.ResponseWriter, status int, body payment) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error here means that the client has gone
}
