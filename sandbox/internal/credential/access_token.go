package credential

import (
	"crypto/rand"
	"sync"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
)

// AccessTokens holds the bearer tokens of the reference endpoints. How one is minted and how long it lives is not
// shown; these live as long as they are kept. It is safe for concurrent use.
type AccessTokens struct {
	mu     sync.RWMutex
	keeper *store.Keeper
	known  *store.Table[Account] // by token
}

// NewAccessTokens returns the tokens that are kept.
func NewAccessTokens(kept store.Store) *AccessTokens {
	s := &AccessTokens{keeper: store.NewKeeper(kept)}
	s.known = store.Open[Account](s.keeper, "credential.access_token")
	return s
}

// Mint adds a token that acts for an account.
func (s *AccessTokens) Mint(account Account) (token string) {
	token = "uat_" + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Put(token, &account)
	s.keeper.Commit()
	return token
}

// Authenticate returns whom a token acts for, or refuses it with unauthenticated.
func (s *AccessTokens) Authenticate(token string) (Account, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	account := s.known.Get(token)
	if account == nil {
		return Account{}, refuse.Unauthenticated()
	}
	return *account, nil
}
