package payments_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// world is a host with money on a client's account, and a store. All of it is in one synctest bubble.
type world struct {
	*worlds.World
	store   payments.Store
	options []moneymovement.Option // of each platform
	settle  func()                 // waits until each goroutine of a bubble is blocked, nil elsewhere
	account dapi.ClientID
	contact dapi.ContactID
	clients []dapi.ClientID
}

func newWorld(t *testing.T, options ...sandbox.Option) *world {
	t.Helper()
	rich := sandbox.WithSettings(func(s *sandbox.Settings) {
		s.MaxCredit = decimal.NewFromInt(1_000_000)
		s.FaucetBalance = decimal.NewFromInt(100_000_000)
	})
	w := &world{World: worlds.New(t, append([]sandbox.Option{rich}, options...)...), store: payments.NewMemoryStore()}
	w.account, w.contact = w.client("acme@example.com", "1000")
	return w
}

// platform returns a new client of the host, as a new process has one.
func (w *world) platform(options ...moneymovement.Option) *dapi.Integrator {
	w.Helper()
	return w.Integrator(w.Developer(), append(options, w.options...)...)
}

// client makes a client with money and a contact.
func (w *world) client(email, money string) (dapi.ClientID, dapi.ContactID) {
	w.Helper()
	ctx := w.Context()
	platform := w.platform()
	client, err := platform.Clients.Create(ctx, dapi.ClientCreate{Email: email, EntityName: "Acme"})
	require.NoError(w, err)
	_, err = platform.Clients.WaitReady(ctx, client.ID)
	require.NoError(w, err)
	account := platform.For(client.ID)
	w.Credit(account.Sandbox, money, dapi.USDC)
	w.clients = append(w.clients, client.ID)
	return client.ID, w.Contact(account.Contacts, worlds.SEPA())
}

// processor returns a processor of a new process on the store.
func (w *world) processor(change ...func(*payments.Config)) *payments.Processor {
	w.Helper()
	config := payments.Config{Logger: slog.New(slog.NewTextHandler(w.Output(), nil))}
	for _, c := range change {
		c(&config)
	}
	p, err := payments.New(w.store, payments.Integrator(w.platform()), config)
	require.NoError(w, err)
	return p
}

// started is processor, resumed. It is stopped at the end of the test.
func (w *world) started(change ...func(*payments.Config)) *payments.Processor {
	w.Helper()
	p := w.processor(change...)
	_, err := p.Resume(w.Context())
	require.NoError(w, err)
	w.Cleanup(func() { require.NoError(w, p.Stop(context.Background())) })
	return p
}

func (w *world) payment(n int) payments.Payment {
	return payments.Payment{
		Key: moneymovement.DeriveKey("invoice", fmt.Sprint(n)), Account: w.account,
		Payout: dapi.PayoutCreate{ContactID: w.contact, Amount: decimal.New(1000+int64(n), -2), Currency: dapi.USDC},
	}
}
