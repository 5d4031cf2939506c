package cases

import (
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/bench/internal/hand"
	"github.com/moneymovement/moneymovement-go/bench/internal/service"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

// account returns the SDK's services for a client, with a session. All is default but pacing, which would make the
// measurement wait, and what the options say.
func (p Place) account(options ...moneymovement.Option) (*dapi.Account, error) {
	developer, err := p.developer()
	if err != nil {
		return nil, err
	}
	developer.Store = loggedIn{developer.Credential(p.Base)}
	return p.loggingIn(developer, options...)
}

func (p Place) developer() (dapi.Developer, error) {
	own, err := private()
	if err != nil {
		return dapi.Developer{}, err
	}
	key, err := signing.FromSigner(own)
	return dapi.Developer{Email: hand.Email, Key: key}, err
}

// loggingIn is account without a session, unless the developer has a store.
func (p Place) loggingIn(developer dapi.Developer, options ...moneymovement.Option) (*dapi.Account, error) {
	options = append(options, moneymovement.WithHTTPClient(p.Client), moneymovement.WithoutPacing())
	platform, err := dapi.NewIntegrator(p.Base, developer, options...)
	if err != nil {
		return nil, err
	}
	return platform.For(service.ClientID), nil
}

// byHand returns the hand-written client.
func (p Place) byHand(token string) (*hand.Client, error) {
	own, err := private()
	if err != nil {
		return nil, err
	}
	key, err := hand.NewKey(own)
	return &hand.Client{HTTP: p.Client, Base: p.Base, Account: service.ClientID, Key: key, Token: token}, err
}

// loggedIn is a token store with a fresh session, so that no login is measured.
type loggedIn struct{ credential string }

func (l loggedIn) Load(context.Context) (dapi.Session, error) {
	return dapi.Session{
		AccessToken: moneymovement.NewSecret(service.Token), RefreshToken: moneymovement.NewSecret("refresh"),
		Credential: l.credential,
		ExpiresAt:  time.Now().Add(time.Hour), RefreshExpiresAt: time.Now().Add(time.Hour),
	}, nil
}

func (loggedIn) Save(context.Context, dapi.Session) error { return nil }

// SDK returns the SDK's services for a client of a service in memory.
func SDK(s *service.Service) (*dapi.Account, error) { return inMemory(s, 1).account() }
