package sandbox

import (
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
)

// appKeyAnswer is an app key in JSON.
type appKeyAnswer struct {
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

func answerOf(key session.AppKey) appKeyAnswer {
	return appKeyAnswer{
		ID: key.ID, AppID: key.AppID, App: key.AppName, Email: key.Account.Email, Scopes: key.Scopes,
		SpendLimit: key.SpendLimit, RemainingSpendLimit: key.Remaining(), CreatedAt: key.CreatedAt,
	}
}

func (c control) listAppKeys(*http.Request) (int, any, error) {
	items := []appKeyAnswer{}
	for _, key := range c.host.appKeys.List() {
		items = append(items, answerOf(key))
	}
	return http.StatusOK, map[string][]appKeyAnswer{"items": items}, nil
}

func (c control) registerAppKey(r *http.Request) (int, any, error) {
	var registration session.AppRegistration
	if err := read(r, &registration); err != nil {
		return 0, nil, err
	}
	key, err := c.host.registerAppKey(registration)
	if err != nil {
		return 0, nil, err
	}
	answer := answerOf(key)
	answer.APIKey = key.Secret
	return http.StatusCreated, answer, nil
}

func (c control) deleteAppKey(r *http.Request) (int, any, error) {
	return http.StatusNoContent, nil, c.host.DeleteAppKey(r.PathValue("id"))
}
