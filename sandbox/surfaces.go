package sandbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/app"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/billing"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/card"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// What the generated server of each surface mounts: state machines side by side,
// each with its own operations.
type (
	platformOperations struct {
		*session.Login
		*platform.Platform
	}
	appOperations struct {
		*app.App
		paperwork
		cards
	}
	referenceOperations struct {
		accountReference
		paperworkReference
		cardsReference
		*billing.Products
	}
	publicOperations struct {
		accountPublic
		paperworkPublic
	}
)

// Names apart, so that they stand side by side.
type (
	accountReference   = app.Reference
	accountPublic      = app.Public
	paperwork          = billing.App
	paperworkReference = billing.Reference
	paperworkPublic    = billing.Public
	cards              = card.App
	cardsReference     = card.Reference
)

// surfaces are the state machines beside the platform's. They act for the account that the platform API calls oneself.
type surfaces struct {
	app      *app.App
	billing  *billing.Billing
	cards    *card.Cards
	products *billing.Products
	logger   *slog.Logger
}

func newSurfaces(
	clk *clock.Clock, settings func() *deployment.Settings, p *platform.Platform, keys *session.AppKeys,
	wallet string, logger *slog.Logger,
	kept store.Store, started time.Time,
) *surfaces {
	s := &surfaces{logger: logger, products: billing.NewProducts(started.Truncate(time.Millisecond))}
	s.billing = billing.New(billing.Config{Clock: clk, Settings: settings, Profile: s.partyOf, Store: kept})
	s.app = app.New(app.Config{Clock: clk, Settings: settings, Platform: p, Keys: keys, Invoices: s.billing,
		Wallet: wallet, Store: kept})
	s.cards = card.New(card.Config{Clock: clk, Settings: settings, Holder: s.holderOf, WalletAddress: wallet,
		Store: kept})
	return s
}

func (s *surfaces) reset() {
	s.app.Reset()
	s.billing.Reset()
	s.cards.Reset()
}

// profileOf is the profile of who makes a request. An account opens on its first
// request, so that there always is one.
func (s *surfaces) profileOf(ctx context.Context) appwire.UserProfile {
	profile, err := s.app.Profile(ctx)
	if err != nil {
		s.logger.Error("a profile cannot be read", "error", err)
	}
	return profile
}

// partyOf is who makes a request, as a party of contracts and invoices.
func (s *surfaces) partyOf(ctx context.Context) billing.Profile {
	profile := s.profileOf(ctx)
	party := billing.Profile{
		ID: profile.ID, Email: profile.Email, DisplayName: profile.DisplayName,
		FirstName: profile.FirstName, LastName: profile.LastName, EntityName: profile.EntityName,
		IsBusiness: profile.EntityName != "", WalletAddress: profile.WalletAddress,
	}
	if address := profile.Address; address != nil {
		party.Address = &commonwire.PostalAddress{
			StreetAddress: address.StreetAddress, City: address.City, Country: address.Country, Zip: address.Zip,
		}
	}
	return party
}

// holderOf is who makes a request, as the holder of cards.
func (s *surfaces) holderOf(ctx context.Context) card.Holder {
	profile := s.profileOf(ctx)
	holder := card.Holder{Name: profile.DisplayName}
	if address := profile.Address; address != nil {
		holder.Address = commonwire.BillingAddress{StreetAddress: address.StreetAddress, City: address.City,
			Zip: address.Zip}
	}
	return holder
}
