package sandbox

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

func (c control) readClock(*http.Request) (int, any, error) {
	return http.StatusOK, map[string]time.Time{"now": c.host.Now()}, nil
}

func (c control) moveClock(r *http.Request) (int, any, error) {
	var move struct {
		Advance Duration `json:"advance"`
	}
	if err := decodeBody(r, &move); err != nil {
		return 0, nil, err
	}
	if move.Advance < 0 {
		return 0, nil, wire.InvalidField("advance", "greater_than_equal", "The clock only moves forward.")
	}
	return http.StatusOK, map[string]time.Time{"now": c.host.Advance(time.Duration(move.Advance))}, nil
}

// keyView is a developer key in JSON.
type keyView struct {
	ID        string    `json:"id"`
	Email     string    `json:"email"`
	PublicKey string    `json:"publicKey"`
	Scopes    []string  `json:"scopes"`
	Allowlist []string  `json:"allowlist,omitzero"`
	CreatedAt time.Time `json:"createdAt"`
}

func keyViewOf(key DeveloperKey) keyView {
	return keyView{
		key.ID, key.Email, base64.StdEncoding.EncodeToString(key.PublicKey), key.Scopes, key.Allowlist, key.CreatedAt,
	}
}

func (c control) listKeys(*http.Request) (int, any, error) {
	views := []keyView{}
	for _, key := range c.host.Keys() {
		views = append(views, keyViewOf(key))
	}
	return http.StatusOK, map[string][]keyView{"items": views}, nil
}

func (c control) registerKey(r *http.Request) (int, any, error) {
	var registration session.Registration
	if err := decodeBody(r, &registration); err != nil {
		return 0, nil, err
	}
	key, err := c.host.registry.Register(registration)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, keyViewOf(publicView(key)), nil
}

func (c control) deleteKey(r *http.Request) (int, any, error) {
	return http.StatusNoContent, nil, c.host.DeleteKey(r.PathValue("id"))
}

func (c control) listFaults(r *http.Request) (int, any, error) {
	items := slices.DeleteFunc(c.host.faults.List(), func(armed fault.Armed) bool {
		return !wire.MatchesText(searchText(r), armed.ID, armed.Method, armed.Path, string(armed.Fault.Kind))
	})
	return http.StatusOK, map[string]any{"items": items, "pendingDuplicates": c.host.PendingDeliveries()}, nil
}

func (c control) armFault(r *http.Request) (int, any, error) {
	var order struct {
		Method string      `json:"method"`
		Path   string      `json:"path"`
		Times  int         `json:"times"`
		Fault  fault.Fault `json:"fault"`
	}
	if err := decodeBody(r, &order); err != nil {
		return 0, nil, err
	}
	if order.Path == "" {
		return 0, nil,
			wire.InvalidField("path", "missing", "Say which path the fault is for, such as /payouts/{payoutId}.")
	}
	armed, err := c.host.arm(order.Method, order.Path, order.Times, order.Fault)
	if unknown, ok := errors.AsType[*fault.UnknownOperation](err); ok {
		refusal := wire.InvalidRequest(unknown.Error())
		refusal.Details = map[string]any{"near": unknown.Near}
		err = refusal
	}
	return http.StatusCreated, armed, err
}

func (c control) disarmFault(r *http.Request) (int, any, error) {
	if !c.host.faults.Disarm(r.PathValue("id")) {
		return 0, nil, wire.NotFound()
	}
	return http.StatusNoContent, nil, nil
}

func (c control) disarmFaults(*http.Request) (int, any, error) {
	c.host.DisarmAll()
	return http.StatusNoContent, nil, nil
}

func (c control) readSettings(*http.Request) (int, any, error) {
	return http.StatusOK, c.host.Settings(), nil
}

// readSettingsOfStart returns the initial settings, for comparison.
func (c control) readSettingsOfStart(*http.Request) (int, any, error) {
	return http.StatusOK, c.host.settings.initial, nil
}

// changeSettings changes the settings that the body names, and no others.
func (c control) changeSettings(r *http.Request) (int, any, error) {
	changed, err := c.host.settings.change(func(s *Settings) error { return decodeBody(r, s) })
	return http.StatusOK, changed, err
}

func (c control) reset(*http.Request) (int, any, error) {
	c.host.Reset()
	return http.StatusNoContent, nil, nil
}

// appKeyJSON is an app key in JSON.
type appKeyJSON struct {
	ID                  string           `json:"id"`
	APIKey              string           `json:"apiKey,omitzero"` // only in the response to its registration
	AppID               string           `json:"appId"`
	App                 string           `json:"app"`
	Email               string           `json:"email"`
	Scopes              []string         `json:"scopes"`
	SpendLimit          *decimal.Decimal `json:"spendLimit,omitzero"`
	RemainingSpendLimit *decimal.Decimal `json:"remainingSpendLimit,omitzero"`
	CreatedAt           time.Time        `json:"createdAt"`
}

func appKeyJSONOf(key session.AppKey) appKeyJSON {
	return appKeyJSON{
		ID: key.ID, AppID: key.AppID, App: key.AppName, Email: key.Account.Email, Scopes: key.Scopes,
		SpendLimit: key.SpendLimit, RemainingSpendLimit: key.Remaining(), CreatedAt: key.CreatedAt,
	}
}

func (c control) listAppKeys(*http.Request) (int, any, error) {
	items := []appKeyJSON{}
	for _, key := range c.host.appKeys.List() {
		items = append(items, appKeyJSONOf(key))
	}
	return http.StatusOK, map[string][]appKeyJSON{"items": items}, nil
}

func (c control) registerAppKey(r *http.Request) (int, any, error) {
	var registration session.AppRegistration
	if err := decodeBody(r, &registration); err != nil {
		return 0, nil, err
	}
	key, err := c.host.registerAppKey(registration)
	if err != nil {
		return 0, nil, err
	}
	response := appKeyJSONOf(key)
	response.APIKey = key.Secret
	return http.StatusCreated, response, nil
}

func (c control) deleteAppKey(r *http.Request) (int, any, error) {
	return http.StatusNoContent, nil, c.host.DeleteAppKey(r.PathValue("id"))
}

// readCredentials returns the credentials with their secrets. No other control does.
func (c control) readCredentials(w http.ResponseWriter, _ *http.Request) {
	credentials := c.host.Credentials()
	body := map[string]string{
		"email": credentials.Email, "keyId": credentials.KeyID,
		"apiKey": credentials.APIKey.Reveal(), "accessToken": credentials.AccessToken.Reveal(),
	}
	if text, err := credentials.Key.PEM(); err == nil { // or else the private half is not in this process
		body["developerKey"] = string(text)
	}
	if text, err := credentials.Wallet.PEM(); err == nil {
		body["walletKey"] = string(text)
	}
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, body)
}

func (c control) listOperations(*http.Request) (int, any, error) {
	return http.StatusOK, map[string]any{"items": gate.AllOperations().Operations}, nil
}

func (c control) listSlugs(*http.Request) (int, any, error) {
	return http.StatusOK, map[string]any{"items": wire.Slugs()}, nil
}

func (c control) listWindows(r *http.Request) (int, any, error) {
	open, on := c.host.windows.Open()
	open = slices.DeleteFunc(open, func(count clock.Count) bool {
		return !wire.MatchesText(searchText(r), count.Window, count.Key)
	})
	return http.StatusOK, map[string]any{"items": open, "on": on}, nil
}

// listMeanings returns the description of each setting in control.yaml.
func listMeanings(*http.Request) (int, any, error) {
	document, err := controlDescription()
	if err != nil {
		return 0, nil, fmt.Errorf("control.yaml: %w", err)
	}
	meanings := map[string]string{}
	for name, setting := range document.Components.Schemas["Settings"].Value.Properties {
		meanings[name] = setting.Value.Description
	}
	return http.StatusOK, meanings, nil
}
