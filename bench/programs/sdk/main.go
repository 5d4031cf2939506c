// Command sdk reads one payout with the SDK.
package main

import (
	"context"
	"os"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/bench/programs/done"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

func main() { done.With(run(os.Args[1])) }

func run(base string) (any, error) {
	key, err := signing.Generate()
	if err != nil {
		return nil, err
	}
	developer := dapi.Developer{Email: "ops@example.com", Key: key}
	developer.Store = stored{developer.Credential(base)}
	platform, err := dapi.NewIntegrator(base, developer)
	if err != nil {
		return nil, err
	}
	payout, err := platform.For("cl_1").Payouts.Get(context.Background(), "po_1")
	if err != nil {
		return nil, err
	}
	return payout.ID, nil
}

// stored has a session, so that the program sends one request as the others do.
type stored struct{ credential string }

func (s stored) Load(context.Context) (dapi.Session, error) {
	return dapi.Session{AccessToken: moneymovement.NewSecret("token"), Credential: s.credential,
		ExpiresAt: time.Now().Add(time.Hour)}, nil
}

func (stored) Save(context.Context, dapi.Session) error { return nil }
