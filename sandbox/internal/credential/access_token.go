package credential

import (
	"crypto/rand"
	"sync"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
)

// AccessTokens holds the bearer tokens of the reference endpoints. The description does not show how they are created
// and how long they are valid. Here they are valid until they are deleted. It is safe for concurrent use.
type AccessTokens struct {
	mu     sync.RWMutex
	keeper *store.Keeper
	known  *store.Table[Account] // by token
}

// NewAccessTokens returns AccessTokens with the stored tokens.
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

// Authenticate returns the account of a token, or refuses the token with unauthenticated.
func (s *AccessTokens) Authenticate(token string) (Account, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	account := s.known.Get(token)
	if account == nil {
		return Account{}, refuse.Unauthenticated()
	}
	return *account, nil
}
