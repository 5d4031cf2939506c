package session

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// The scopes of an app key. The description says that a key has scopes, and does not name them.
const (
	AppScopeRead      = "read"
	AppScopeProfile   = "profile:write"
	AppScopeContacts  = "contacts:write"
	AppScopeDocuments = "documents:write" // documents, invoices and contracts
	AppScopeBanks     = "banks:write"     // rails and quotes
	AppScopeCards     = "cards:write"
	AppScopeTransfers = "transfers:write"
)

// AppScopes returns every scope.
func AppScopes() []string {
	return []string{AppScopeRead, AppScopeProfile, AppScopeContacts, AppScopeDocuments, AppScopeBanks, AppScopeCards,
		AppScopeTransfers}
}

// AppKey is a key of an app.
type AppKey struct {
	ID      string
	Secret  string // the text that requests send
	AppID   string // keys of the same account and app name belong to the same app
	AppName string
	Account AppAccount
	Scopes  []string
	// SpendLimit is what the key may spend in total, in USDC. Nil means no limit.
	SpendLimit *decimal.Decimal
	Spent      decimal.Decimal
	CreatedAt  time.Time
}

// Remaining returns what the key may still spend, or nil without a limit.
func (k AppKey) Remaining() *decimal.Decimal {
	if k.SpendLimit == nil {
		return nil
	}
	remaining := k.SpendLimit.Sub(k.Spent)
	return &remaining
}

// Check refuses a scope that the key does not have. A route without a scope passes.
func (k AppKey) Check(scope string) error {
	if scope == "" || slices.Contains(k.Scopes, scope) {
		return nil
	}
	return wire.MissingScope(scope, k.Scopes)
}

// AppKeys holds the app keys. It is safe for concurrent use.
type AppKeys struct {
	clock *clock.Clock

	mu       sync.RWMutex
	keeper   *store.Keeper
	keys     *store.Table[AppKey] // by id
	bySecret map[string]*AppKey
}

// NewAppKeys returns AppKeys with the stored keys.
func NewAppKeys(clk *clock.Clock, backend store.Store) *AppKeys {
	s := &AppKeys{clock: clk, keeper: store.NewKeeper(backend), bySecret: map[string]*AppKey{}}
	s.keys = store.Open(s.keeper, "credential.app_key", func(_ string, key *AppKey) { s.bySecret[key.Secret] = key })
	return s
}

// Revision is a number that grows with each change of the keys.
func (s *AppKeys) Revision() int64 { return s.keeper.Revision() }

// commit stores what has changed, and releases the lock.
func (s *AppKeys) commit() {
	defer s.mu.Unlock()
	s.keeper.Commit()
}

// Reset deletes every key except these. Their spent amounts return to zero.
func (s *AppKeys) Reset(keep ...AppKey) {
	s.mu.Lock()
	defer s.commit()
	s.keys.Clear()
	s.bySecret = map[string]*AppKey{}
	for _, key := range keep {
		key.Spent = decimal.Zero
		s.add(&key)
	}
}

// add must be called with the lock held.
func (s *AppKeys) add(key *AppKey) {
	s.keys.Put(key.ID, key)
	s.bySecret[key.Secret] = key
}

// secrets is the form of a key that somebody chooses: a token of a bearer header, neither short nor very long.
var secrets = regexp.MustCompile(`^[A-Za-z0-9\-._~+/=]{16,128}$`)

// IsSecret reports whether a text can be a key.
func IsSecret(text string) bool { return secrets.MatchString(text) }

// Register adds a key to an account, or refuses it with validation_failed.
func (s *AppKeys) Register(account AppAccount, registration AppRegistration) (AppKey, error) {
	return s.RegisterOnce("", account, registration)
}

// RegisterOnce is Register with a secret that the caller chooses, or a random one for "". It returns the key that the
// account has already with this secret, and takes the secret from another account.
func (s *AppKeys) RegisterOnce(secret string, account AppAccount, registration AppRegistration) (AppKey, error) {
	key, err := registration.key()
	if err != nil {
		return AppKey{}, err
	}
	key.ID, key.Secret = "apk_"+strings.ToLower(rand.Text()), cmp.Or(secret, "ak_"+rand.Text())
	key.Account, key.CreatedAt = account, s.clock.Now()
	key.AppID = uuid.NewHash(sha256.New(), uuid.NameSpaceURL, []byte("app of "+account.ID+"/"+key.AppName), 8).String()

	s.mu.Lock()
	defer s.commit()
	if existing := s.bySecret[key.Secret]; existing != nil {
		if existing.Account == account {
			return existing.clone(), nil
		}
		s.keys.Delete(existing.ID)
	}
	s.add(key)
	return key.clone(), nil
}

// Delete deletes a key, or refuses an unknown id with not_found.
func (s *AppKeys) Delete(id string) error {
	s.mu.Lock()
	defer s.commit()
	key := s.keys.Get(id)
	if key == nil {
		return wire.NotFound()
	}
	s.keys.Delete(id)
	delete(s.bySecret, key.Secret)
	return nil
}

// List returns every key, oldest first.
func (s *AppKeys) List() []AppKey {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := make([]AppKey, 0, s.keys.Len())
	for _, key := range s.keys.All() {
		keys = append(keys, key.clone())
	}
	slices.SortFunc(keys, func(a, b AppKey) int {
		if byAge := a.CreatedAt.Compare(b.CreatedAt); byAge != 0 {
			return byAge
		}
		return strings.Compare(a.ID, b.ID)
	})
	return keys
}

// Records returns how many keys there are.
func (s *AppKeys) Records() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.keys.Len()
}

// Authenticate returns the key with this secret, or refuses it with unauthenticated.
func (s *AppKeys) Authenticate(secret string) (AppKey, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return cloneOrUnauthenticated(s.bySecret[secret])
}

// Get returns a key by its id. If the key was deleted during the request, Get refuses with unauthenticated.
func (s *AppKeys) Get(id string) (AppKey, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return cloneOrUnauthenticated(s.keys.Get(id))
}

func cloneOrUnauthenticated(key *AppKey) (AppKey, error) {
	if key == nil {
		return AppKey{}, wire.Unauthenticated()
	}
	return key.clone(), nil
}

// Spend subtracts an amount in USDC from what a key may still spend. A larger amount is refused with forbidden, and the
// details say what is left.
func (s *AppKeys) Spend(id string, amount decimal.Decimal) error {
	s.mu.Lock()
	defer s.commit()
	key := s.keys.Get(id)
	if key == nil {
		return wire.Unauthenticated()
	}
	if remaining := key.Remaining(); remaining != nil && amount.GreaterThan(*remaining) {
		return wire.SpendLimitExceeded(remaining.String())
	}
	key.Spent = key.Spent.Add(amount)
	s.keys.Put(id, key)
	return nil
}

// Refund undoes a Spend after a failed payment.
func (s *AppKeys) Refund(id string, amount decimal.Decimal) {
	s.mu.Lock()
	defer s.commit()
	if key := s.keys.Get(id); key != nil {
		key.Spent = key.Spent.Sub(amount)
		s.keys.Put(id, key)
	}
}

// clone returns a copy that shares no data that changes.
func (k *AppKey) clone() AppKey {
	c := *k
	c.Scopes = slices.Clone(k.Scopes)
	return c
}

// AccessTokens holds the bearer tokens of the reference endpoints. The description does not show how they are created
// and how long they are valid. Here they are valid until they are deleted. It is safe for concurrent use.
type AccessTokens struct {
	mu     sync.RWMutex
	keeper *store.Keeper
	tokens *store.Table[AppAccount] // by token
}

// NewAccessTokens returns AccessTokens with the stored tokens.
func NewAccessTokens(backend store.Store) *AccessTokens {
	s := &AccessTokens{keeper: store.NewKeeper(backend)}
	s.tokens = store.Open[AppAccount](s.keeper, "credential.access_token")
	return s
}

// Mint adds a token that acts for an account.
func (s *AccessTokens) Mint(account AppAccount) (token string) {
	token = "uat_" + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens.Put(token, &account)
	s.keeper.Commit()
	return token
}

// Authenticate returns the account of a token, or refuses the token with unauthenticated.
func (s *AccessTokens) Authenticate(token string) (AppAccount, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	account := s.tokens.Get(token)
	if account == nil {
		return AppAccount{}, wire.Unauthenticated()
	}
	return *account, nil
}

// AppAccount is the account that a credential acts for.
type AppAccount struct {
	ID    string
	Email string
}

// Caller is a caller who acts for the account itself.
func (a AppAccount) Caller() wire.Caller {
	return wire.Caller{Owner: a.ID, Email: a.Email, Account: wire.Self}
}

// usdcDecimals is the number of decimals of USDC.
const usdcDecimals = 6

// DefaultApp is the app of keys that name no app.
const DefaultApp = "Sandbox app"

// AppRegistration is a request for an app key. The service's own application issues keys in a way that the description
// does not show.
type AppRegistration struct {
	// Email is the account that the app acts for. Without it, that is the host's first account.
	Email string `json:"email,omitzero"`
	// App is the name of the app, [DefaultApp] if empty.
	App string `json:"app,omitzero"`
	// Scopes are the scopes of the key, all scopes if empty.
	Scopes []string `json:"scopes,omitzero"`
	// SpendLimit is what the key may spend in total, in USDC. Nil means no limit.
	SpendLimit *decimal.Decimal `json:"spendLimit,omitzero"`
}

// key checks a registration. Refusals name the fields.
func (r AppRegistration) key() (*AppKey, error) {
	var wrong []wire.Field
	for i, scope := range r.Scopes {
		if !slices.Contains(AppScopes(), scope) {
			wrong = append(wrong, wire.Field{Field: fmt.Sprintf("scopes.%d", i), Code: "enum",
				Message: "There is no such scope."})
		}
	}
	if limit := r.SpendLimit; limit != nil {
		switch {
		case limit.IsNegative():
			wrong = append(wrong, wire.Field{Field: "spendLimit", Code: "greater_than_equal",
				Message: "A limit must not be negative."})
		case limit.Exponent() < -usdcDecimals:
			wrong = append(wrong,
				wire.Field{Field: "spendLimit", Code: "amount_precision", Message: "USDC has 6 decimals."})
		}
	}
	if len(wrong) > 0 {
		return nil, wire.ValidationFailed("", wrong...)
	}
	key := &AppKey{AppName: strings.TrimSpace(r.App), Scopes: slices.Clone(r.Scopes), SpendLimit: r.SpendLimit}
	if key.AppName == "" {
		key.AppName = DefaultApp
	}
	if r.Scopes == nil {
		key.Scopes = AppScopes()
	}
	return key, nil
}
