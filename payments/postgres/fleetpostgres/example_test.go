package fleetpostgres_test

import (
	"context"
	"log"

	"github.com/jackc/pgx/v5/pgxpool"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/fleet"
	fleetpostgres "github.com/moneymovement/moneymovement-go/payments/postgres/fleetpostgres"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Every process of the fleet runs the same lines. While the database is away, each of 8 processes uses an eighth of the
// windows.
func Example() {
	const baseURL, schema = "https://service.example", "payments_fleet"
	ctx := context.Background()
	key, err := signing.LoadDeveloperKey("developer.pem")
	if err != nil {
		log.Print(err)
		return
	}
	pool, err := pgxpool.New(ctx, "postgres://db.internal/business")
	if err != nil {
		log.Print(err)
		return
	}
	defer pool.Close()
	if err := fleetpostgres.Migrate(ctx, pool, schema); err != nil {
		log.Print(err)
		return
	}
	developer := dapi.Developer{Email: "ops@example.com", Key: key}
	credential := developer.Credential(baseURL)
	var sealing []byte // 32 random bytes from your secret store, the same in each process
	developer.Store, err = fleetpostgres.NewTokenStore(pool, credential, fleetpostgres.WithEncryption(sealing),
		fleetpostgres.WithSchema(schema))
	if err != nil {
		log.Print(err)
		return
	}
	limiter, err := fleetpostgres.NewLimiter(pool, schema, credential, fleet.WithShareWhileUnavailable(8))
	if err != nil {
		log.Print(err)
		return
	}
	platform, err := dapi.NewIntegrator(baseURL, developer, moneymovement.WithRateLimiter(limiter),
		moneymovement.WithRateShare(8)) // bounds the payments under way in each of 8 processes
	if err != nil {
		log.Print(err)
		return
	}
	log.Print(platform.Self())
	// Output:
}
