// Start starts the workflow of a payment, or carries a person's decision to it, and prints the state of the payment.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/shopspring/decimal"
	"go.temporal.io/sdk/client"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/temporal/payment"
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
	id := flag.String("id", "", "`id` of the payment in your database")
	account := flag.String("account", "", "`id` of the client that pays; self is your own account")
	contact := flag.String("contact", "", "`id` of the contact to pay")
	amount := flag.String("amount", "", "`amount` in USDC; if empty, the payment exists already")
	fee := flag.String("max-fee", "", "highest `fee` in USDC; with -decide retry, the new bound")
	action := flag.String("decide", "", "`action` of a person: retry, cancel, new_key or hand_over")
	wait := flag.Duration("wait", 10*time.Second, "how long to wait for the end of the payment")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute+*wait)
	defer cancel()
	temporal, err := client.Dial(client.Options{HostPort: *address, Namespace: *namespace})
	if err != nil {
		return fmt.Errorf("start a Temporal server first, for example with `temporal server start-dev`: %w", err)
	}
	defer temporal.Close()

	bounds := dapi.Bounds{MaxFee: new(decimal.Decimal)} // without -max-fee, no fee is allowed
	if *fee != "" {
		if *bounds.MaxFee, err = decimal.NewFromString(*fee); err != nil {
			return fmt.Errorf("-max-fee: %w", err)
		}
	}
	switch {
	case *id == "":
		return fmt.Errorf("-id is missing: it identifies the payment, and the key derives from it")
	case *action != "":
		decision := payment.Decision{Action: payment.Action(*action)}
		if *fee != "" {
			decision.Bounds = &bounds
		}
		err = decide(ctx, temporal, *id, decision)
	case *amount != "":
		in := payment.Input{ID: *id, Account: dapi.ClientID(*account), Bounds: bounds, Terms: dapi.PayoutCreate{
			ContactID: dapi.ContactID(*contact), Currency: dapi.USDC}}
		if in.Terms.Amount, err = decimal.NewFromString(*amount); err != nil {
			return fmt.Errorf("-amount: %w", err)
		}
		_, err = payment.Start(ctx, temporal, in)
	}
	if err != nil {
		return err
	}
	state, err := look(ctx, temporal, *id, *wait)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(state)
}

// decide waits until the workflow has taken the decision, or returns why it refused it.
func decide(ctx context.Context, temporal client.Client, id string, decision payment.Decision) error {
	handle, err := temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: payment.WorkflowID(id, 0), UpdateName: payment.DecideUpdate, Args: []any{decision},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, nil)
}

// look returns the last state of a payment, or its state now if it has not ended in time.
func look(ctx context.Context, temporal client.Client, id string, wait time.Duration) (payment.State, error) {
	var state payment.State
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err := temporal.GetWorkflow(waiting, payment.WorkflowID(id, 0), "").Get(waiting, &state)
	if err == nil || waiting.Err() == nil {
		return state, err
	}
	value, err := temporal.QueryWorkflow(ctx, payment.WorkflowID(id, 0), "", payment.StateQuery)
	if err != nil {
		return state, err
	}
	return state, value.Get(&state)
}
