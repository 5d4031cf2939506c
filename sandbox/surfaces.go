package sandbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/account"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/paperwork"
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
		*account.App
		paperworkApp
		cards
	}
	referenceOperations struct {
		accountReference
		paperworkReference
		cardsReference
		*paperwork.Products
	}
	publicOperations struct {
		accountPublic
		paperworkPublic
	}
)

// Names apart, so that they stand side by side.
type (
	accountReference   = account.Reference
	accountPublic      = account.Public
	paperworkApp          = paperwork.App
	paperworkReference = paperwork.Reference
	paperworkPublic    = paperwork.Public
	cards              = card.App
	cardsReference     = card.Reference
)

// surfaces are the state machines beside the platform's. They act for the account that the platform API calls oneself.
type surfaces struct {
	app      *account.App
	billing  *paperwork.Billing
	cards    *card.Cards
	products *paperwork.Products
	logger   *slog.Logger
}

func newSurfaces(
	clk *clock.Clock, settings func() *deployment.Settings, p *platform.Platform, keys *session.AppKeys,
	wallet string, logger *slog.Logger,
	kept store.Store, started time.Time,
) *surfaces {
	s := &surfaces{logger: logger, products: paperwork.NewProducts(started.Truncate(time.Millisecond))}
	s.billing = paperwork.New(paperwork.Config{Clock: clk, Settings: settings, Profile: s.partyOf, Store: kept})
	s.app = account.New(account.Config{Clock: clk, Settings: settings, Platform: p, Keys: keys, Invoices: s.billing,
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
func (s *surfaces) partyOf(ctx context.Context) paperwork.Profile {
	profile := s.profileOf(ctx)
	party := paperwork.Profile{
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
