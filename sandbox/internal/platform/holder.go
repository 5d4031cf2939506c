package platform

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// holderKey identifies an account: an integrator's client, or the integrator itself as [wire.Self].
type holderKey struct{ Owner, Account string }

// emailKey finds an account by its email. Clients have their integrator as owner, and integrators have no owner.
type emailKey struct{ owner, email string }

func clientEmail(owner, email string) emailKey { return emailKey{owner, strings.ToLower(email)} }
func integratorEmail(email string) emailKey    { return emailKey{"", strings.ToLower(email)} }

// holder is an account with a balance.
type holder struct {
	Key     holderKey
	Client  platformwire.Client // of a client; only the email for an integrator
	Wallet  string
	UserID  string
	history history
	KYB     verification
	Rails   map[platformwire.BankMethod]*rail
}

func (h *holder) isClient() bool { return h.Key.Account != wire.Self }

// ledgerAccount returns the holder's name in the ledger.
func (h *holder) ledgerAccount() string {
	if h.isClient() {
		return h.Key.Account
	}
	return h.Key.Owner
}

// displayName returns the account's name as others see it.
func (h *holder) displayName() string {
	if h.Client.EntityName != "" {
		return h.Client.EntityName
	}
	return strings.TrimSpace(h.Client.FirstName + " " + h.Client.LastName)
}

// hasWallet reports whether the account has a wallet. The integrator's own account always has one.
func (t *txn) hasWallet(h *holder) bool {
	return !h.isClient() || !t.now.Before(h.Client.CreatedAt.Add(time.Duration(t.settings.ClientReadyAfter)))
}

// holderOf returns the account that a caller acts for. It creates the integrator's own account at its first request.
func (t *txn) holderOf(c wire.Caller) (*holder, error) {
	key := holderKey{c.Owner, c.Account}
	if h, ok := t.holders[key]; ok {
		return h, nil
	}
	if key.Account != wire.Self {
		return nil, wire.NotFound()
	}
	return t.openIntegratorAccount(c.Owner, c.Email), nil
}

// openIntegratorAccount creates an integrator's own account.
func (t *txn) openIntegratorAccount(owner, email string) *holder {
	return t.openAccount(holderKey{owner, wire.Self}, platformwire.Client{Email: email, CreatedAt: t.now})
}

// openAccount adds an account. Its wallet address is derived from its name.
func (t *txn) openAccount(key holderKey, client platformwire.Client) *holder {
	name := key.Owner + "/" + key.Account
	digest := sha256.Sum256([]byte("wallet of " + name))
	h := &holder{
		Key:    key,
		Client: client,
		Wallet: "0x" + hex.EncodeToString(digest[:20]),
		UserID: uuid.NewHash(sha256.New(), uuid.NameSpaceURL, []byte(name), 8).String(),
	}
	t.indexHolder(h)
	t.store.holders.Put(h)
	return h
}

// holderByEmail finds an existing account of the service. It looks at the integrator's own clients first. An integrator
// has its account before its first request.
func (t *txn) holderByEmail(owner, email string) (*holder, bool) {
	if h, ok := t.emails[clientEmail(owner, email)]; ok {
		return h, true
	}
	if h, ok := t.emails[integratorEmail(email)]; ok {
		return h, true
	}
	if accountID, ok := t.integrator(email); ok {
		return t.openIntegratorAccount(accountID, strings.ToLower(email)), true
	}
	return nil, false
}

// CreateClient creates a client of the integrator. Its email, in upper or lower case, is the natural key.
func (p *Platform) CreateClient(ctx context.Context, body platformwire.ClientCreate) (wire.Response, error) {
	c := wire.CallerOf(ctx)
	t := p.begin()
	defer p.commit()
	if h, ok := t.emails[clientEmail(c.Owner, body.Email)]; ok {
		return wire.OK(t.clientView(h)).Lean().Replayed(), nil
	}
	client := platformwire.Client{
		ID:         newID("cl_"),
		Email:      body.Email,
		Type:       body.Type,
		FirstName:  body.FirstName,
		LastName:   body.LastName,
		EntityName: body.EntityName,
		Country:    body.Country,
		CreatedAt:  t.now,
	}
	h := t.openAccount(holderKey{c.Owner, client.ID}, client)
	return wire.Created(t.clientView(h)).Lean(), nil
}

// GetClient reads one client of the integrator.
func (p *Platform) GetClient(ctx context.Context, clientID platformwire.ClientID) (wire.Response, error) {
	c := wire.CallerOf(ctx)
	t := p.begin()
	defer p.commit()
	h, ok := t.holders[holderKey{c.Owner, clientID}]
	if !ok || !h.isClient() {
		return wire.Response{}, wire.NotFound()
	}
	return wire.OK(t.clientView(h)).Lean(), nil
}

// clientView returns the client as responses show it: pending, or ready with its wallet.
func (t *txn) clientView(h *holder) platformwire.Client {
	view := h.Client
	view.Status = platformwire.ClientStatusPending
	if t.hasWallet(h) {
		view.Status = platformwire.ClientStatusReady
		view.BaseSmartWallet = h.Wallet
	}
	view.Balances = t.balances(h.ledgerAccount())
	return view
}

// balances lists the balance of a ledger account in each settlement asset.
func (t *txn) balances(account string) []platformwire.Balance {
	list := make([]platformwire.Balance, len(assets))
	for i, asset := range assets {
		list[i] = platformwire.Balance{Currency: platformwire.Asset(asset), Available: t.ledger.balance(account, asset)}
	}
	return list
}
