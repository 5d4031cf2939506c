// Server is an HTTP server that pays, and that loses no payment when it stops: go run ./examples/server
//
// On SIGTERM or Ctrl-C it accepts no new payments, and gives those under way time to end. A payment whose result is not
// known then stays in the journal as in doubt, and the next start takes it up with the same key: it is paid once. The
// server itself is in server.go, and its journal in journal.go; they are what to copy.
//
// Without -listen, the program rehearses that: it starts the server, stops it in the middle of a payment, and starts it
// again. With -listen it serves until a signal stops it:
//
//	export MONEYMOVEMENT_BASE_URL=http://127.0.0.1:8080 MONEYMOVEMENT_EMAIL=ops@example.com
//	export MONEYMOVEMENT_KEY_FILE=developer.pem
//	go run ./examples/server -listen 127.0.0.1:8081 -journal payments.jsonl -client cl_1
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	var listen, file, client string
	var grace time.Duration
	p, err := program.Open("server", args, out, func(flags *flag.FlagSet) {
		flags.StringVar(&listen, "listen", "", "`address` to serve on; if empty, the program shows a stop and a start")
		flags.StringVar(&file, "journal", "payments.jsonl", "`file` of the payments, with -listen")
		flags.StringVar(&client, "client", "", "`id` of the client that pays, with -listen")
		flags.DurationVar(&grace, "grace", 20*time.Second,
			"`time` that payments under way have at the end, with -listen")
	})
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	if listen == "" {
		return rehearse(ctx, p, platform)
	}
	if client == "" {
		return errors.New("-listen needs -client as well")
	}
	payments, err := openJournal(file)
	if err != nil {
		return err
	}
	defer payments.close()
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	p.Step("serving on http://%s; payments in doubt from before: %d", listener.Addr(), len(payments.inDoubt()))
	s := &server{account: platform.For(dapi.ClientID(client)), journal: payments, grace: grace}
	if err := s.serve(ctx, listener); err != nil {
		return err
	}
	p.Step("stopped; payments in doubt for the next start: %d", len(payments.inDoubt()))
	return nil
}
