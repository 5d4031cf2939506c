package sandbox

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/app"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/billing"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/card"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/merchant"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// What the generated server of each surface mounts: state machines side by side,
// each with the operations of its own concern.
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
		*merchant.Products
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

// newSurfaces makes the state machines of the surfaces beside the platform API.
// They act for the account that the platform API calls oneself.
func (h *Host) newSurfaces() {
	wallet := h.credentials.Wallet.Address()
	h.billing = billing.New(billing.Config{
		Clock:    h.clock,
		Settings: h.configured.get,
		Profile:  h.partyOf,
	})
	h.app = app.New(app.Config{
		Clock:    h.clock,
		Settings: h.configured.get,
		Platform: h.platform, Keys: h.appKeys, Invoices: h.billing, Wallet: wallet,
	})
	h.cards = card.New(card.Config{
		Clock:    h.clock,
		Settings: h.configured.get,
		Holder:   h.holderOf, WalletAddress: wallet,
	})
	h.products = merchant.New(h.clock.Now().Truncate(time.Millisecond))
}

// profileOf is the profile of who makes a request. An account opens on its first
// request, so that there always is one.
func (h *Host) profileOf(ctx context.Context) appwire.UserProfile {
	profile, err := h.app.Profile(ctx)
	if err != nil {
		h.logger.Error("a profile cannot be read", "error", err)
	}
	return profile
}

// partyOf is who makes a request, as a party of contracts and invoices.
func (h *Host) partyOf(ctx context.Context) billing.Profile {
	profile := h.profileOf(ctx)
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
func (h *Host) holderOf(ctx context.Context) card.Holder {
	profile := h.profileOf(ctx)
	holder := card.Holder{Name: profile.DisplayName}
	if address := profile.Address; address != nil {
		holder.Address = commonwire.BillingAddress{StreetAddress: address.StreetAddress, City: address.City, Zip: address.Zip}
	}
	return holder
}
