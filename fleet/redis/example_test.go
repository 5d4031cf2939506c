package fleetredis_test

import (
	"log"

	"github.com/redis/go-redis/v9"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	fleetredis "github.com/moneymovement/moneymovement-go/fleet/redis"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Every process of the fleet runs the same lines.
func Example() {
	const baseURL = "https://service.example"
	key, err := signing.LoadDeveloperKey("developer.pem")
	if err != nil {
		log.Print(err)
		return
	}
	client := redis.NewClient(&redis.Options{Addr: "redis.internal:6379"})
	developer := dapi.Developer{Email: "ops@example.com", Key: key, StoreRequired: true}
	credential := developer.Credential(baseURL)
	var sealing []byte // 32 random bytes from your secret store, the same in each process
	developer.Store, err = fleetredis.NewTokenStore(client, credential, fleetredis.WithEncryption(sealing))
	if err != nil {
		log.Print(err)
		return
	}
	limiter, err := fleetredis.NewLimiter(client, credential)
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
