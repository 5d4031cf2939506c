package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
	"github.com/moneymovement/moneymovement-go/signing"
)

// What Submit returned is there after the next start. This program does not call Resume, so it sends nothing.
func Example() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "payments-")
	if err != nil {
		log.Print(err)
		return
	}
	defer os.RemoveAll(folder)
	key, err := signing.Generate()
	if err != nil {
		log.Print(err)
		return
	}
	platform, err := dapi.NewIntegrator("https://host.example", dapi.Developer{Email: "ops@example.com", Key: key})
	if err != nil {
		log.Print(err)
		return
	}
	path := filepath.Join(folder, "payments.db")
	start := func(options ...sqlite.Option) (payments.Record, error) {
		store, err := sqlite.Open(ctx, path, options...)
		if err != nil {
			return payments.Record{}, err
		}
		defer store.Close()
		processor, err := payments.New(store, payments.IntegratorServices(platform), payments.Config{})
		if err != nil {
			return payments.Record{}, err
		}
		return processor.Submit(ctx, payments.Payment{
			Key:     moneymovement.DeriveKey("invoice", "42", "1"),
			Account: "cl_8fK2",
			Payout:  dapi.PayoutCreate{ContactID: "ct_3dR9", Amount: decimal.NewFromInt(12), Currency: dapi.USDC},
		})
	}
	first, err := start()
	if err != nil {
		log.Print(err)
		return
	}
	second, err := start(sqlite.MustExist()) // from the second start on
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(second.State, first.AcceptedAt.Equal(second.AcceptedAt))
	// Output: accepted true
}
