package account

import (
	"cmp"
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// Invoices has what transfers need to pay an invoice. It must be safe for concurrent use.
type Invoices interface {
	// Settle pays an invoice with pay. It refuses an invoice that is not waiting for a payment. It stores the hash that
	// pay returns as the invoice's transaction. Payee is the email address of the contractor.
	Settle(id string, pay func(amount decimal.Decimal, currency, payee string) (txHash string, err error)) error
}

// Config is the configuration of an app.
type Config struct {
	Clock    *clock.Clock
	Settings func() *deployment.Settings
	Platform *platform.Platform
	Keys     *session.AppKeys
	Invoices Invoices
	// Wallet is the address of the wallet that logs in.
	Wallet string
	// Store keeps the accounts, and what they sent.
	Store store.Store
}

// Service serves the operations of the app API on its owner's account and money. It is safe for concurrent use.
type Service struct {
	Config

	mu    sync.Mutex
	state *state
}

// state is what Reset deletes: the stored records, and values derived from them.
type state struct {
	keeper   *store.Keeper
	accounts *store.Table[account] // by owner
	contacts *store.Table[contact] // by id
	quotes   *store.Table[payoutQuote]
	sent     *store.Table[transfer]
	memos    *store.Table[memo] // by payin
	logins   *store.Table[WalletLogin]
	events   *store.Table[PartnerEvent]

	transfers    map[string]*transfer // by the transaction of the ledger
	transferList []*transfer          // oldest first
	loginList    []WalletLogin
	eventList    []PartnerEvent
}

// account is what this surface stores about an integrator's own account.
type account struct {
	Profile profile

	contacts []*contact // oldest first
	quotes   map[string]*payoutQuote
	memos    map[string]string    // of payins
	byKey    map[string]*transfer // the latest of each idempotency key
}

// memo is the purpose of a payin.
type memo struct{ Account, Text string }

// New returns an app with the stored records.
func New(config Config) *Service {
	s := &state{keeper: store.NewKeeper(config.Store), transfers: map[string]*transfer{}}
	s.accounts = store.Open(s.keeper, "app.account", func(_ string, acct *account) { acct.init() })
	s.contacts = store.Open(s.keeper, "app.contact", func(_ string, c *contact) {
		acct := s.accounts.Get(c.Account)
		acct.contacts = append(acct.contacts, c)
	})
	s.sent = store.Open(s.keeper, "app.transfer", func(_ string, tr *transfer) {
		s.addTransfer(s.accounts.Get(tr.Account), tr)
	})
	s.quotes = store.Open(s.keeper, "app.payout_quote", func(id string, quote *payoutQuote) {
		quote.used = s.sent.Get(quote.UsedBy)
		s.accounts.Get(quote.Account).quotes[id] = quote
	})
	s.memos = store.Open(s.keeper, "app.memo", func(payin string, m *memo) {
		s.accounts.Get(m.Account).memos[payin] = m.Text
	})
	s.logins = store.Open(s.keeper, "app.login", func(_ string, login *WalletLogin) {
		s.loginList = append(s.loginList, *login)
	})
	s.events = store.Open(s.keeper, "app.event", func(_ string, event *PartnerEvent) {
		s.eventList = append(s.eventList, *event)
	})
	return &Service{Config: config, state: s}
}

func (acct *account) init() {
	acct.quotes, acct.memos, acct.byKey = map[string]*payoutQuote{}, map[string]string{}, map[string]*transfer{}
}

// addTransfer adds a transfer as the latest of an account.
func (s *state) addTransfer(acct *account, tr *transfer) {
	s.transferList = append(s.transferList, tr)
	s.transfers[tr.LedgerTransaction] = tr
	if tr.Key != "" {
		acct.byKey[tr.Key] = tr
	}
}

// Reset returns to the initial state.
func (a *Service) Reset() {
	a.mu.Lock()
	defer a.commit()
	s := a.state
	s.accounts.Clear()
	s.contacts.Clear()
	s.quotes.Clear()
	s.sent.Clear()
	s.memos.Clear()
	s.logins.Clear()
	s.events.Clear()
	s.transfers, s.transferList, s.loginList, s.eventList = map[string]*transfer{}, nil, nil, nil
}

// ForgetKeys forgets every idempotency key. The transfers stay as they are.
func (a *Service) ForgetKeys() {
	a.mu.Lock()
	defer a.commit()
	for _, acct := range a.state.accounts.All() {
		clear(acct.byKey)
	}
}

// txn is one request's access to the state. It lasts as long as the lock is held. Money and invoices have their own
// locks, which are always taken after this one.
type txn struct {
	*state
	*account
	caller   wire.Caller
	own      platform.OwnAccount
	settings *deployment.Settings
	now      time.Time
}

// begin takes the lock for a caller's account. commit releases it.
func (a *Service) begin(ctx context.Context) *txn {
	settings := a.Settings()
	caller := wire.CallerOf(ctx)
	a.mu.Lock()
	acct := a.state.accounts.Get(caller.Owner)
	if acct == nil {
		acct = &account{}
		acct.init()
		a.state.accounts.Put(caller.Owner, acct)
	}
	return &txn{
		state: a.state, account: acct, caller: caller, own: a.Platform.OwnAccount(caller),
		settings: settings, now: a.Clock.Now().Truncate(time.Millisecond),
	}
}

// commit stores what has changed, and releases the lock.
func (a *Service) commit() {
	defer a.mu.Unlock()
	a.state.keeper.Commit()
}

// defaultLimit is how many entries a list returns by default.
const defaultLimit = 50

// pageOf returns one page of a list. It is never nil, so that JSON has an array.
func pageOf[T any](list []T, limit, offset int) []T {
	if limit == 0 {
		limit = defaultLimit
	}
	start := min(offset, len(list))
	return append([]T{}, list[start:min(start+limit, len(list))]...)
}

// total returns a count as lists have it.
func total[T any](list []T) *int {
	count := len(list)
	return &count
}

// Records returns how many records there are.
func (a *Service) Records() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.state
	count := s.accounts.Len() + s.contacts.Len() + s.quotes.Len() + s.sent.Len() + s.memos.Len() + s.logins.Len() +
		s.events.Len()
	for _, acct := range s.accounts.All() {
		count += len(acct.byKey)
	}
	return count
}

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
func (a *Service) GetProfile(ctx context.Context) (wire.Response, error) {
	view, err := a.Profile(ctx)
	return wire.OK(view), err
}

// Profile returns the profile of the account that makes a request.
func (a *Service) Profile(ctx context.Context) (appwire.UserProfile, error) {
	t := a.begin(ctx)
	defer a.commit()
	return t.profileView()
}

// UpdateProfile saves the members that the body names.
func (a *Service) UpdateProfile(ctx context.Context, body appwire.ProfileUpdate) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	t.Profile.change(body, t.now)
	t.store()
	view, err := t.profileView()
	return wire.OK(view), err
}

// store stores the account.
func (t *txn) store() { t.accounts.Put(t.caller.Owner, t.account) }

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

func (t *txn) profileView() (appwire.UserProfile, error) {
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

// verificationProvider is the provider that verifies on this host.
const verificationProvider = "sandbox"

// verification is the progress of the account's owner.
type verification struct {
	Link                  string
	LinkedAt, CompletedAt time.Time // when the link was made, and when the profile was complete
	Decision              commonwire.KYCStatus
}

// CreateKYCLink creates a link, or returns the existing one.
func (a *Service) CreateKYCLink(ctx context.Context) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	v := &t.Profile.Verification
	if v.Link == "" {
		v.Link, v.LinkedAt = "https://verify.example.com/kyc/"+strings.ToLower(rand.Text()), t.now
		t.store()
	}
	return wire.OK(appwire.KYCLink{URL: v.Link, Status: t.kycStatus()}), nil
}

// GetKYCStatus returns the status of the verification.
func (a *Service) GetKYCStatus(ctx context.Context, params appwire.GetKYCStatusParams) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	if requested := params.Provider; requested != "" && requested != verificationProvider {
		return wire.OK(appwire.KYCState{Status: commonwire.KYCStatusNotStarted, Provider: requested}), nil
	}
	return wire.OK(appwire.KYCState{Status: t.kycStatus(), Provider: verificationProvider}), nil
}

// kycStatus returns the status of the verification. A decision is final.
func (t *txn) kycStatus() commonwire.KYCStatus {
	v := &t.Profile.Verification
	reviewFrom := v.LinkedAt
	if v.CompletedAt.After(reviewFrom) {
		reviewFrom = v.CompletedAt
	}
	switch {
	case v.Decision != "":
		return v.Decision
	case v.Link == "":
		return commonwire.KYCStatusNotStarted
	case !t.Profile.complete():
		return commonwire.KYCStatusRequested
	case t.now.Before(reviewFrom.Add(time.Duration(t.settings.KYBDecisionAfter))):
		return commonwire.KYCStatusUnderReview
	case t.settings.KYBDecision == deployment.KYBDecisionReject:
		v.Decision = commonwire.KYCStatusRejected
	default:
		v.Decision = commonwire.KYCStatusApproved
	}
	t.store()
	return v.Decision
}
