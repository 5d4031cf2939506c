package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
	"github.com/moneymovement/moneymovement-go/examples/internal/narrate"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// rehearse stops the server in the middle of a payment, and starts it again.
func rehearse(ctx context.Context, p *program.Program, platform *dapi.Integrator) error {
	account, err := customer.OpenWith(ctx, p, platform, decimal.NewFromInt(50), dapi.USDC)
	if err != nil {
		return err
	}
	supplier, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Example supplier"}})})
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "moneymovement-server-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "payments.jsonl")
	first := payment{ID: p.Name + "-1", ContactID: supplier.ID, Amount: decimal.RequireFromString("12.50")}
	second := payment{ID: p.Name + "-2", ContactID: supplier.ID, Amount: decimal.RequireFromString("7.25")}

	p.Step("first start")
	one, err := start(ctx, account, file)
	if err != nil {
		return err
	}
	defer one.stop() //nolint:errcheck // a second stop, after an error; that error is the one to report
	if err := one.ask(ctx, p.Narrator, first); err != nil {
		return err
	}
	underWay := make(chan error, 1)
	begun := func() bool { _, found := one.journal.get(second.ID); return found }
	if p.Host != nil {
		slow := p.Host.Arm(http.MethodPost, "/dapi/v1/payouts/{payoutId}/confirm", sandbox.Delay(time.Minute))
		p.Step("the service is slow: it takes a minute for the next confirm; the server waits a tenth of a second")
		begun = func() bool { return slow.Consumed() > 0 }
	}
	var said bytes.Buffer // printed later, because this goroutine prints as well
	go func() { underWay <- one.ask(ctx, narrate.Narrator{Out: &said}, second) }()
	if err := until(ctx, begun); err != nil {
		return err
	}
	p.Step("SIGTERM, in the middle of the second payment")
	if err := one.stop(); err != nil {
		return err
	}
	if err := <-underWay; err != nil {
		return err
	}
	if _, err := said.WriteTo(p.Out); err != nil {
		return err
	}
	p.Step("stopped; payments in doubt in the journal: %d", len(one.journal.inDoubt()))

	p.Step("second start")
	two, err := start(ctx, account, file)
	if err != nil {
		return err
	}
	defer two.stop() //nolint:errcheck // as above
	if err := until(ctx, func() bool { return two.idle() && len(two.journal.inDoubt()) == 0 }); err != nil {
		return err
	}
	p.Step("took up what was in doubt; asking for both again pays nothing twice")
	for _, again := range []payment{first, second} {
		if err := two.ask(ctx, p.Narrator, again); err != nil {
			return err
		}
	}
	if err := two.stop(); err != nil {
		return err
	}
	return p.Ledger(ctx, account.Transactions)
}

// process is a server like one in another process: it shares only the journal's file with the server before it.
type process struct {
	*server
	url     string
	sigterm context.CancelFunc
	ended   chan error
}

func start(ctx context.Context, account *dapi.Account, file string) (*process, error) {
	payments, err := openJournal(file)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, sigterm := context.WithCancel(ctx)
	started := &process{server: &server{account: account, journal: payments, grace: 100 * time.Millisecond},
		url: "http://" + listener.Addr().String() + "/pay", sigterm: sigterm, ended: make(chan error, 1)}
	go func() {
		defer close(started.ended)
		started.ended <- started.serve(ctx, listener)
	}()
	return started, nil
}

// idle reports that no payment is under way.
func (s *process) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ids) == 0
}

// stop sends the signal, and waits until the server has ended. A second call does nothing.
func (s *process) stop() error {
	s.sigterm()
	if err, running := <-s.ended; running {
		return errors.Join(err, s.journal.close())
	}
	return nil
}

// ask asks the server to pay.
func (s *process) ask(ctx context.Context, n narrate.Narrator, asked payment) error {
	body, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := (&http.Client{Timeout: time.Minute}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var said payment
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
		return err
	}
	n.Detail("POST /pay %s: %d, %s is %s %s", asked.ID, response.StatusCode, asked.Amount, said.State,
		said.History.PayoutID)
	return nil
}

func until(ctx context.Context, done func() bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
