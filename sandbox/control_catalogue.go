package sandbox

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// readCredentials shows what the credentials do not print. No other control does.
func (c control) readCredentials(w http.ResponseWriter, _ *http.Request) {
	own := c.host.Credentials()
	body := map[string]string{
		"email": own.Email, "keyId": own.KeyID,
		"apiKey": own.APIKey.Reveal(), "accessToken": own.AccessToken.Reveal(),
	}
	if text, err := own.Key.PEM(); err == nil { // or else the private half is not in this process
		body["developerKey"] = string(text)
	}
	if text, err := own.Wallet.PEM(); err == nil {
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
		return !wire.Found(findOf(r), count.Window, count.Key)
	})
	return http.StatusOK, map[string]any{"items": open, "on": on}, nil
}

// listMeanings says what each setting does, as control.yaml describes it.
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
