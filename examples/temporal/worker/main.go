// Worker runs the workflows and the activities of payments, until SIGTERM or Ctrl-C.
//
// Without -base-url, it starts a sandbox host in its own process, with a client that has money and a contact that can
// be paid, and prints the command that starts a payment.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/shopspring/decimal"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/temporal/payment"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	address := flag.String("temporal", "localhost:7233", "`address` of the Temporal server")
	namespace := flag.String("namespace", "default", "`namespace` of Temporal")
	baseURL := flag.String("base-url", "", "`address` of the money-movement service; if empty, a sandbox host")
	email := flag.String("email", "", "`email` of the account, with -base-url")
	keyFile := flag.String("key", "", "`file` of the developer key (PEM), with -base-url")
	workers := flag.Int("workers", 1, "how many `workers` share the developer key")
	flag.Parse()

	developer := dapi.Developer{Email: *email}
	var err error
	if *baseURL == "" {
		*baseURL, developer, err = startHost()
	} else {
		developer.Key, err = signing.LoadDeveloperKey(*keyFile)
	}
	if err != nil {
		return err
	}
	platform, err := dapi.NewIntegrator(*baseURL, developer, moneymovement.WithRateShare(*workers))
	if err != nil {
		return err
	}
	temporal, err := client.Dial(client.Options{HostPort: *address, Namespace: *namespace})
	if err != nil {
		return fmt.Errorf("start a Temporal server first, for example with `temporal server start-dev`: %w", err)
	}
	defer temporal.Close()
	w := worker.New(temporal, payment.TaskQueue, payment.WorkerOptions(*workers))
	w.RegisterWorkflow(payment.Workflow)
	w.RegisterActivity(&payment.Activities{Platform: platform})
	// Run returns after the calls under way have ended.
	return w.Run(stopped())
}

// stopped closes its channel when somebody stops the process.
func stopped() <-chan any {
	signals, stop := make(chan os.Signal, 1), make(chan any)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-signals
		close(stop)
	}()
	return stop
}

// startHost starts a sandbox host, and prints what start needs.
func startHost() (baseURL string, developer dapi.Developer, err error) {
	host := sandbox.New()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", developer, err
	}
	server := &http.Server{Handler: host, ReadHeaderTimeout: time.Minute}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Print(err)
		}
	}()
	baseURL = "http://" + listener.Addr().String()
	developer = dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	payer, contact, err := prepare(ctx, baseURL, developer)
	if err != nil {
		return "", developer, err
	}
	fmt.Printf("go run ./start -id invoice-42 -account %s -contact %s -amount 12.50 -max-fee 1\n", payer, contact)
	return baseURL, developer, nil
}

// prepare makes a client with 100 USDC, and a contact that can be paid.
func prepare(ctx context.Context, baseURL string, developer dapi.Developer) (dapi.ClientID, dapi.ContactID, error) {
	platform, err := dapi.NewIntegrator(baseURL, developer)
	if err != nil {
		return "", "", err
	}
	payer, err := platform.Clients.Create(ctx, dapi.ClientCreate{Email: "payer@example.com", EntityName: "Example"})
	if err != nil {
		return "", "", err
	}
	if _, err := platform.Clients.WaitReady(ctx, payer.ID); err != nil {
		return "", "", err
	}
	account := platform.For(payer.ID)
	_, depositErr := account.Sandbox.Deposit(ctx,
		dapi.DepositCreate{Amount: decimal.NewFromInt(100), Currency: dapi.USDC})
	contact, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Example supplier"}})})
	if err := cmp.Or(depositErr, err); err != nil {
		return "", "", err
	}
	return payer.ID, contact.ID, nil
}
