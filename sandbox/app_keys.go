package sandbox

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
)

// AppKeyRegistration describes an app key. The service's description does not say how an app key is issued; the host
// issues one on request.
type AppKeyRegistration struct {
	// Email names the account that the app acts for. The default is the host's first account. If no account has this
	// email, the host creates one. An integrator's own account is the same on the platform API and on the app API.
	Email string
	// App is the name of the app that owns the key. Keys of the same account and app see the same transfers.
	App string
	// Scopes are what the key may do. They are from [AppScopes]; nil means every scope.
	Scopes []string
	// SpendLimit is how much the key may spend in total, in USDC; nil means no limit.
	SpendLimit *decimal.Decimal
}

// AppKey is a registered app key.
type AppKey struct {
	ID      string
	Key     Secret // sent as Authorization: Bearer or X-Api-Key
	AppID   string
	AppName string
	Email   string // of the account
	Scopes  []string
	// SpendLimit is how much the key may spend in total, and RemainingSpendLimit what is left of it, in USDC; nil means
	// no limit.
	SpendLimit, RemainingSpendLimit *decimal.Decimal
	CreatedAt                       time.Time
}

// AppScopes returns the scopes of app keys: read, and profile:write, contacts:write, documents:write, banks:write,
// cards:write and transfers:write for the writes of each part of the app API. The service's description says that keys
// have scopes and does not name them, so the names are the host's own.
func AppScopes() []string { return session.AppScopes() }

// RegisterAppKey registers an app key. The error names the invalid fields.
func (h *Host) RegisterAppKey(registration AppKeyRegistration) (AppKey, error) {
	key, err := h.registerAppKey(session.AppRegistration(registration))
	if err != nil {
		return AppKey{}, err
	}
	return appKeyView(key), nil
}

func (h *Host) registerAppKey(registration session.AppRegistration) (session.AppKey, error) {
	if registration.Email == "" {
		registration.Email = h.seed.credentials.Email
	}
	key, err := h.appKeys.Register(h.account(registration.Email), registration)
	if err == nil {
		h.tokens.AddForeign(key.Secret)
	}
	return key, err
}

func (h *Host) account(email string) session.AppAccount {
	id, canonical := h.registry.Account(email)
	return session.AppAccount{ID: id, Email: canonical}
}

// DeleteAppKey deletes an app key. Calls with it then fail with unauthenticated. For an unknown id, the error contains
// not_found.
func (h *Host) DeleteAppKey(id string) error { return h.appKeys.Delete(id) }

// AppKeys returns the app keys of every account, oldest first.
func (h *Host) AppKeys() []AppKey {
	keys := h.appKeys.List()
	views := make([]AppKey, len(keys))
	for i, key := range keys {
		views[i] = appKeyView(key)
	}
	return views
}

func appKeyView(key session.AppKey) AppKey {
	return AppKey{
		ID: key.ID, Key: newSecret(key.Secret), AppID: key.AppID, AppName: key.AppName, Email: key.Account.Email,
		Scopes: slices.Clone(key.Scopes), SpendLimit: key.SpendLimit, RemainingSpendLimit: key.Remaining(),
		CreatedAt: key.CreatedAt,
	}
}
