package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
)

// profile is what an account saved about itself.
type profile struct {
	FirstName, LastName, EntityName string
	Address                         *appwire.ProfileAddress
	Verification                    verification
}

// complete reports whether the profile has what verification needs: a name and a country.
func (p *profile) complete() bool {
	named := p.EntityName != "" || p.FirstName != "" && p.LastName != ""
	return named && p.Address != nil && p.Address.Country != ""
}

func (p *profile) displayName() string {
	return cmp.Or(p.EntityName, strings.TrimSpace(p.FirstName+" "+p.LastName))
}

// GetProfile returns the profile.
func (a *App) GetProfile(ctx context.Context) (wire.Answer, error) {
	view, err := a.Profile(ctx)
	return wire.OK(view), err
}

// Profile returns the profile of the account that makes a request.
func (a *App) Profile(ctx context.Context) (appwire.UserProfile, error) {
	t := a.enter(ctx)
	defer a.leave()
	return t.profileView()
}

// UpdateProfile saves the members that the body names.
func (a *App) UpdateProfile(ctx context.Context, body appwire.ProfileUpdate) (wire.Answer, error) {
	t := a.enter(ctx)
	defer a.leave()
	t.Profile.change(body, t.now)
	t.changed()
	view, err := t.profileView()
	return wire.OK(view), err
}

// changed stores the account.
func (t *turn) changed() { t.accounts.Put(t.caller.Owner, t.account) }

func (p *profile) change(body appwire.ProfileUpdate, now time.Time) {
	wire.Update(&p.FirstName, body.FirstName)
	wire.Update(&p.LastName, body.LastName)
	wire.Update(&p.EntityName, body.EntityName)
	for _, name := range []*string{&p.FirstName, &p.LastName, &p.EntityName} {
		*name = strings.TrimSpace(*name)
	}
	if body.Address.IsSpecified() {
		p.Address = nil
		if address, err := body.Address.Get(); err == nil {
			p.Address = &address
		}
	}
	if p.complete() && p.Verification.CompletedAt.IsZero() {
		p.Verification.CompletedAt = now
	}
}

func (t *turn) profileView() (appwire.UserProfile, error) {
	identity, err := t.own.Identity()
	if err != nil {
		return appwire.UserProfile{}, err
	}
	isBusiness := t.Profile.EntityName != ""
	return appwire.UserProfile{
		ID:            identity.UserID,
		Email:         identity.Email,
		DisplayName:   t.Profile.displayName(),
		FirstName:     t.Profile.FirstName,
		LastName:      t.Profile.LastName,
		EntityName:    t.Profile.EntityName,
		IsBusiness:    &isBusiness,
		Address:       t.Profile.Address,
		WalletAddress: identity.Wallet,
		KYCStatus:     t.kycStatus(),
		CreatedAt:     identity.CreatedAt,
	}, nil
}
