package sandbox

import (
	"net/http"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/advice"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/described"
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
	return http.StatusOK, map[string]any{"items": described.All().Operations}, nil
}

func (c control) listSlugs(*http.Request) (int, any, error) {
	return http.StatusOK, map[string]any{"items": advice.All()}, nil
}

func (c control) listWindows(*http.Request) (int, any, error) {
	open, on := c.host.windows.Open()
	return http.StatusOK, map[string]any{"items": open, "on": on}, nil
}
