package credential

import (
	"crypto/rand"
	"sync"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// AccessTokens holds the bearer tokens of the reference endpoints. How one is minted and how long it lives is not shown;
// these live as long as the host. The zero store is empty and ready. It is safe for concurrent use.
type AccessTokens struct {
	mu    sync.RWMutex
	known map[string]Account
}

// Mint adds a token that acts for an account.
func (s *AccessTokens) Mint(account Account) (token string) {
	token = "uat_" + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]Account{}
	}
	s.known[token] = account
	return token
}

// Authenticate answers whom a token acts for, or refuses it with unauthenticated.
func (s *AccessTokens) Authenticate(token string) (Account, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	account, ok := s.known[token]
	if !ok {
		return Account{}, refuse.Unauthenticated()
	}
	return account, nil
}
