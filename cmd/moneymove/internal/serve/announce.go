package serve

import (
	"fmt"
	"io"
	"strings"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/control"
	"github.com/moneymovement/moneymovement-go/internal/plaintext"
	"github.com/moneymovement/moneymovement-go/internal/shell"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// announcement is what a caller needs to reach the host and to log in.
type announcement struct {
	BaseURL       string `json:"baseUrl"`
	Email         string `json:"email"`
	KeyFile       string `json:"keyFile"`
	APIKey        string `json:"apiKey,omitzero"`
	AccessToken   string `json:"accessToken,omitzero"` // of /api/v1
	WalletKeyFile string `json:"walletKeyFile"`        // of the wallet that cards spend from
	ControlURL    string `json:"controlUrl,omitzero"`
	ConsoleURL    string `json:"consoleUrl,omitzero"` // the page for people
	// DataFolder has the state and the credentials, with -data.
	DataFolder string  `json:"dataFolder,omitzero"`
	Seeded     *seeded `json:"seeded,omitzero"`

	rateLimits bool
}

func announcementOf(o options, address, keyFile, walletFile string, credentials sandbox.Credentials) announcement {
	a := announcement{
		BaseURL: "http://" + address, Email: credentials.Email, KeyFile: keyFile, WalletKeyFile: walletFile,
		APIKey: credentials.APIKey.Reveal(), AccessToken: credentials.AccessToken.Reveal(),
	}
	if o.control {
		a.ControlURL, a.ConsoleURL = a.BaseURL+"/_host", a.BaseURL+"/_console"
	}
	return a
}

// print says that the host accepts requests: with one line of JSON for programs, or a block of text for people. Only
// who asks for JSON gets the app key and the token. A pipe alone may well end in the log of a container.
func (a announcement) print(to *app.App, asJSON bool) error {
	if !to.AsksForJSON() {
		a.APIKey, a.AccessToken = "", ""
	}
	if asJSON {
		return to.PrintJSON(a)
	}
	_, err := io.WriteString(to.Out, a.readable())
	return err
}

func (a announcement) readable() string {
	var text strings.Builder
	line := func(name, value string) { fmt.Fprintf(&text, "  %-14s %s\n", name, plaintext.Line(value)) }
	text.WriteString("The sandbox host is ready.\n\n")
	line("address", a.BaseURL)
	if a.ControlURL != "" {
		line("controls", a.ControlURL)
		line("console", a.ConsoleURL)
	}
	line("email", a.Email)
	line("key file", a.KeyFile)
	line("wallet file", a.WalletKeyFile)
	line("rate limits", map[bool]string{true: "on", false: "off"}[a.rateLimits])
	if s := a.Seeded; s != nil {
		text.WriteString("\nPrepared by -seed:\n\n")
		line("client", string(s.Client)+" ("+s.Email+")")
		line("bank contact", string(s.BankContact))
		line("wallet contact", string(s.WalletContact))
		if s.VirtualAccount != "" {
			line("bank account", string(s.VirtualAccount))
		} else {
			line("bank account", "none: "+s.NoVirtualAccount)
		}
		line("app key", s.AppKeyID)
	}
	text.WriteString("\nLog in with the email and the key file. ")
	if a.ControlURL != "" {
		words := []string{"moneymove", "sandbox", "env"}
		if a.ControlURL != control.DefaultURL {
			words = append(words, "-control-url", a.ControlURL)
		}
		text.WriteString("Every credential is printed by\n\n  " + shell.Line(words...) + "\n\n")
	} else {
		text.WriteString("With -o json the app key and the access token are printed as well.\n")
	}
	text.WriteString("Press Ctrl-C to stop the host. ")
	if a.DataFolder == "" {
		text.WriteString("It keeps nothing.\n")
	} else {
		text.WriteString("Its state is in " + plaintext.Line(a.DataFolder) + ", and the next start goes on there.\n")
	}
	return text.String()
}
