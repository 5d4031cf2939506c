// Payments is a small backend that pays, and survives its own death: go run ./examples/payments
//
// It accepts payments on HTTP requests. A processor of package payments stores each of them in one file before it sends
// anything, pays it, and follows it until the money has arrived. backend.go is what to copy, and backend_test.go shows
// how to test it.
//
// The program starts itself in another process, and kills that process when a payment has left whose response is lost.
// Then it opens the same file, goes on, and compares with the ledger, which would show an invoice that is paid twice.
//
// With -listen it serves until Ctrl-C. On a host that stays, kill it as you like; the same command goes on:
//
//	go run ./cmd/moneymove sandbox -seed -key-file developer.pem   # prints the ids of a client and of contacts
//	export MONEYMOVEMENT_BASE_URL=http://127.0.0.1:8080 MONEYMOVEMENT_EMAIL=ops@example.com
//	export MONEYMOVEMENT_KEY_FILE=developer.pem
//	go run ./examples/payments -listen 127.0.0.1:8081 -store payments.db -client cl_1
//	curl http://127.0.0.1:8081/payments -d '{"id":"invoice-42","contactId":"ct_1","amount":"12.50"}'
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/payments"
)

func main() { program.Main(run) }

// settings are the values of the flags.
type settings struct {
	listen string
	store  string
	client string
	maxFee decimal.Decimal
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	p, err := program.Open("payments", args, out, func(flags *flag.FlagSet) {
		flags.StringVar(&s.listen, "listen", "", "`address` to serve on; if empty, the program shows a crash and a start")
		flags.StringVar(&s.store, "store", "", "`file` that keeps the payments; if empty, a temporary one")
		flags.StringVar(&s.client, "client", "", "`id` of the client that pays, with -listen")
		flags.TextVar(&s.maxFee, "max-fee", decimal.NewFromInt(1),
			"highest `fee` of a payment, in USDC; payments that wait because of their fee go on with it")
	})
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	if s.store == "" {
		folder, err := os.MkdirTemp("", "payments-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		s.store = filepath.Join(folder, "payments.db")
	}
	switch {
	case s.listen == "":
		return s.rehearse(ctx, p, platform)
	case s.client == "":
		return errors.New("-listen needs -client as well")
	}
	return s.start(ctx, p, platform, &told{program: p}, nil)
}

// start goes on with what an earlier start has left, and serves requests until ctx ends. A rehearsal runs meanwhile,
// and ends it.
func (s *settings) start(
	ctx context.Context, p *program.Program, platform *dapi.Integrator, changes *told,
	rehearsal func(ctx context.Context, url string, processor *payments.Processor) error,
) error {
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	err := serve(ctx, platform, s.store, logger, func(ctx context.Context, processor *payments.Processor) error {
		if err := raiseFees(ctx, processor, s.maxFee); err != nil {
			return err
		}
		listener, err := net.Listen("tcp", s.listen)
		if err != nil {
			return err
		}
		url := "http://" + listener.Addr().String() + "/payments"
		p.Step("serving on %s", url)
		ctx, end := context.WithCancel(ctx)
		defer end()
		group, ctx := errgroup.WithContext(ctx)
		b := &backend{processor: processor, client: dapi.ClientID(s.client), maxFee: s.maxFee}
		group.Go(func() error { return b.listen(ctx, listener) })
		group.Go(func() error { return follow(ctx, processor, changes) })
		if rehearsal != nil {
			group.Go(func() error {
				defer end()
				return rehearsal(ctx, url, processor)
			})
		}
		if err := group.Wait(); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil // Ctrl-C, or the end of the rehearsal
	})
	if err == nil {
		p.Step("stopped; the same command goes on")
	}
	return err
}

// told is what this program does about changes: it prints how payments end. It keeps no position, so a new start prints
// the last change of each payment again.
type told struct {
	program *program.Program
	open    int           // payments that have not ended
	done    chan struct{} // closed when all have
}

func (*told) Position(context.Context) (payments.Position, error) { return "", nil }

func (t *told) Save(_ context.Context, record payments.Record) error {
	if !record.State.Final() && record.State != moneymovement.PaymentNeedsDecision {
		return nil
	}
	p := view(record)
	t.program.Detail("%s: %s, %s USDC %s %s", p.ID, p.State, p.Amount.StringFixed(2), p.PayoutID, p.Problem)
	if t.open--; t.open == 0 {
		close(t.done)
	}
	return nil
}
