package contrary_test

import (
	"context"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// loginCalls are made by the SDK itself, before the first call that needs a session. What they bring is what is kept of
// them: the session.
var loginCalls = map[string]func(*call) (any, error){
	"dapi CreateChallenge": func(c *call) (any, error) { return c.logIn(dapi.Session{}) },
	"dapi CreateToken":     func(c *call) (any, error) { return c.logIn(dapi.Session{}) },
	"dapi RefreshToken":    func(c *call) (any, error) { return c.logIn(sessionFor(-time.Minute)) },
}

func isLogin(o *wire.Operation) bool { return loginCalls[o.Name()] != nil }

// kept is a store in memory.
type kept struct {
	mu      sync.Mutex
	session dapi.Session
}

func (k *kept) Load(context.Context) (dapi.Session, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.session, nil
}

func (k *kept) Save(_ context.Context, session dapi.Session) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session = session
	return nil
}

// logIn makes a call of a client that begins with a session.
func (c *call) logIn(first dapi.Session) (any, error) {
	c.Helper()
	store := &kept{session: first}
	_, err := c.logsIn(store).Self().Chains.List(c.Context(), dapi.ListChainsParams{})
	return map[string]any{"accessToken": store.session.AccessToken.Reveal(),
		"refreshToken": store.session.RefreshToken.Reveal()}, err
}
