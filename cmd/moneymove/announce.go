package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// announcement is what a caller needs to reach the host and to log in.
type announcement struct {
	BaseURL       string `json:"baseUrl"`
	Email         string `json:"email"`
	KeyFile       string `json:"keyFile"`
	APIKey        string `json:"apiKey"`
	AccessToken   string `json:"accessToken"`   // of /api/v1
	WalletKeyFile string `json:"walletKeyFile"` // of the wallet that cards spend from
	ControlURL    string `json:"controlUrl,omitempty"`
}

// announce prints that the host accepts requests: one line of JSON for programs, or a block of text for people. The
// block shows no tokens.
func announce(
	w io.Writer, flags sandboxFlags, address, keyFile, walletFile string, credentials sandbox.Credentials,
) error {
	a := announcement{
		BaseURL: "http://" + address, Email: credentials.Email, KeyFile: keyFile, WalletKeyFile: walletFile,
		APIKey: credentials.APIKey.Reveal(), AccessToken: credentials.AccessToken.Reveal(),
	}
	if flags.control {
		a.ControlURL = a.BaseURL + "/_host"
	}
	if flags.json {
		line, err := json.Marshal(a)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s\n", line)
		return err
	}
	_, err := io.WriteString(w, a.readable(flags))
	return err
}

func (a announcement) readable(flags sandboxFlags) string {
	var text strings.Builder
	line := func(name, value string) { fmt.Fprintf(&text, "  %-12s %s\n", name, value) }
	text.WriteString("The sandbox host is ready.\n\n")
	line("address", a.BaseURL)
	if a.ControlURL != "" {
		line("controls", a.ControlURL)
	}
	line("email", a.Email)
	line("key file", a.KeyFile)
	line("wallet file", a.WalletKeyFile)
	line("rate limits", map[bool]string{true: "on", false: "off"}[flags.rateLimits])
	text.WriteString("\nLog in with the email and the key file. The flag -json also prints the app key and the " +
		"access token.\nPress Ctrl-C to stop the host. It keeps nothing.\n")
	return text.String()
}
