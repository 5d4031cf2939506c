package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/given"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
)

// profile is what an account told about itself.
type profile struct {
	firstName, lastName, entityName string
	address                         *appwire.ProfileAddress
	verification                    verification
}

// complete tells whether verification has what it reads: a name and a country.
func (p *profile) complete() bool {
	named := p.entityName != "" || p.firstName != "" && p.lastName != ""
	return named && p.address != nil && p.address.Country != ""
}

func (p *profile) displayName() string {
	return cmp.Or(p.entityName, strings.TrimSpace(p.firstName+" "+p.lastName))
}

// GetProfile answers the profile. Source: App API, Account and profile.
func (a *App) GetProfile(ctx context.Context) (serve.Answer, error) {
	view, err := a.Profile(ctx)
	return serve.OK(view), err
}

// Profile is the profile of the account that makes a request.
func (a *App) Profile(ctx context.Context) (appwire.UserProfile, error) {
	t := a.enter(ctx)
	defer a.leave()
	return t.profileView()
}

// UpdateProfile saves what the body names. Source: App API, Account and profile.
func (a *App) UpdateProfile(ctx context.Context, body appwire.ProfileUpdate) (serve.Answer, error) {
	t := a.enter(ctx)
	defer a.leave()
	t.profile.change(body, t.now)
	view, err := t.profileView()
	return serve.OK(view), err
}

func (p *profile) change(body appwire.ProfileUpdate, now time.Time) {
	given.To(&p.firstName, body.FirstName)
	given.To(&p.lastName, body.LastName)
	given.To(&p.entityName, body.EntityName)
	for _, name := range []*string{&p.firstName, &p.lastName, &p.entityName} {
		*name = strings.TrimSpace(*name)
	}
	if body.Address.IsSpecified() {
		p.address = nil
		if address, err := body.Address.Get(); err == nil {
			p.address = &address
		}
	}
	if p.complete() && p.verification.completedAt.IsZero() {
		p.verification.completedAt = now
	}
}

func (t *turn) profileView() (appwire.UserProfile, error) {
	identity, err := t.own.Identity()
	if err != nil {
		return appwire.UserProfile{}, err
	}
	isBusiness := t.profile.entityName != ""
	return appwire.UserProfile{
		ID:            identity.UserID,
		Email:         identity.Email,
		DisplayName:   t.profile.displayName(),
		FirstName:     t.profile.firstName,
		LastName:      t.profile.lastName,
		EntityName:    t.profile.entityName,
		IsBusiness:    &isBusiness,
		Address:       t.profile.address,
		WalletAddress: identity.Wallet,
		KYCStatus:     t.kycStatus(),
		CreatedAt:     identity.CreatedAt,
	}, nil
}
