package control

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/internal/shell"
)

// envWalletKeyFile names the file of the wallet that cards spend from. The examples of the SDK read it.
const envWalletKeyFile = "MONEYMOVEMENT_WALLET_KEY_FILE"

// envCommand returns the command that prints how to reach the running host.
func envCommand(a *app.App) *cobra.Command {
	var name, folder string
	command := &cobra.Command{
		Use:   "env",
		Short: "Print the environment for programs that call the running sandbox host",
		Long: `Prints commands for a shell that set the environment of programs which call the
running sandbox host: its address, the email, the app key, the access token, the
files of the developer key and of the wallet, the client that -seed prepared, and
the address of the controls. The other commands of moneymove and the examples of
the SDK read these variables.

The host must be on this machine, and must be started with -control. The two keys
are written to files that only you can read.`,
		Example: `  eval "$(moneymove sandbox env)"
  moneymove sandbox env -shell fish | source
  moneymove sandbox env -shell powershell | Out-String | Invoke-Expression`,
	}
	running := NewTarget(a, command)
	flags := command.Flags()
	flags.StringVar(&name, "shell", "sh", "write for this `shell`: sh, fish or powershell")
	flags.StringVar(&folder, "key-dir", "",
		"`folder` for the key files (default: one for the host's address in your cache)")
	_ = command.RegisterFlagCompletionFunc("shell",
		cobra.FixedCompletions([]string{"sh", "fish", "powershell"}, cobra.ShellCompDirectiveNoFileComp))
	command.RunE = func(c *cobra.Command, _ []string) error {
		syntax, ok := shells[name]
		if !ok {
			return app.Usagef("-shell is %q; give sh, fish or powershell", name)
		}
		if _, err := a.JSON(); err != nil {
			return err
		}
		controls, err := running.Client()
		if err != nil {
			return err
		}
		set, err := environment(c.Context(), controls, folder)
		if err != nil {
			return err
		}
		if a.AsksForJSON() {
			return a.PrintJSON(set.values())
		}
		return syntax.write(a.Out, set)
	}
	return command
}

// variable is a variable of the environment. Without a value, it is not to be set.
type variable struct{ name, value string }

type variables []variable

func (v variables) values() map[string]string {
	all := map[string]string{}
	for _, one := range v {
		if one.value != "" {
			all[one.name] = one.value
		}
	}
	return all
}

// environment asks the host for its credentials, and writes its keys to files.
func environment(ctx context.Context, controls *Client, folder string) (variables, error) {
	address, err := url.Parse(controls.URL())
	if err != nil {
		return nil, err
	}
	if !onThisMachine(address.Hostname()) {
		return nil, app.Usagef("-control-url is %s: the credentials of a host on another machine are not printed",
			controls.URL())
	}
	base, ok := strings.CutSuffix(controls.URL(), "/_host")
	if !ok {
		return nil, app.Usagef("-control-url is %s: it must end with /_host", controls.URL())
	}
	var own struct {
		Email        string `json:"email"`
		APIKey       string `json:"apiKey"`
		AccessToken  string `json:"accessToken"`
		DeveloperKey string `json:"developerKey"` // none if it is not in the host's process
		WalletKey    string `json:"walletKey"`
	}
	if err := controls.Get(ctx, "/credentials", &own); err != nil {
		return nil, err
	}
	accounts, err := controls.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	seededID := ""
	for _, account := range accounts {
		if account.Email == seedEmail {
			seededID = account.ID
		}
	}
	if folder, err = keyFolder(folder, address.Host); err != nil {
		return nil, err
	}
	developer, err := keyWritten(folder, developerFile, own.DeveloperKey)
	if err != nil {
		return nil, err
	}
	purse, err := keyWritten(folder, walletFile, own.WalletKey)
	if err != nil {
		return nil, err
	}
	return variables{
		{client.EnvBaseURL, base}, {client.EnvEmail, own.Email}, {client.EnvKeyFile, developer},
		{client.EnvAPIKey, own.APIKey}, {client.EnvAccessToken, own.AccessToken}, {envWalletKeyFile, purse},
		{client.EnvClient, seededID}, {URLVariable, controls.URL()},
	}, nil
}

func onThisMachine(name string) bool {
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// keyFolder makes the folder for the keys of a host. The keys of a later host at the same address replace them.
func keyFolder(folder, address string) (string, error) {
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", app.Usagef("name a folder for the keys with -key-dir: %w", err)
		}
		name := strings.NewReplacer(":", "-", "[", "", "]", "").Replace(address)
		folder = filepath.Join(cache, "moneymove", "sandbox", name)
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	if err := ownFolder("-key-dir", folder); err != nil {
		return "", err
	}
	return folder, os.MkdirAll(folder, 0o700)
}

// keyWritten writes a key to its file, and returns the name of the file. If the key is empty, it writes nothing.
func keyWritten(folder, name, key string) (path string, err error) {
	if key == "" {
		return "", nil
	}
	path = filepath.Join(folder, name)
	return path, app.ReplaceFile(path, []byte(key))
}

// syntax is how a shell sets a variable, and how it removes one.
type syntax struct {
	set, remove string // the name is %[1]s, and the value as a word %[2]s
	word        func(text string) string
}

var shells = map[string]syntax{
	"sh":   {"export %[1]s=%[2]s\n", "unset %[1]s\n", shell.Word},
	"fish": {"set -gx %[1]s %[2]s\n", "set -e %[1]s\n", inQuotes(`\`, `\\`, `'`, `\'`)},
	"powershell": {"$env:%[1]s = %[2]s\n", "Remove-Item Env:%[1]s -ErrorAction SilentlyContinue\n",
		inQuotes(`'`, `''`, "\u2018", "\u2018\u2018", "\u2019", "\u2019\u2019", "\u201a", "\u201a\u201a",
			"\u201b", "\u201b\u201b")},
}

// inQuotes writes a word in quotes, in which these characters alone mean something. Each has its spelling behind it.
func inQuotes(spelled ...string) func(text string) string {
	replacer := strings.NewReplacer(spelled...)
	return func(text string) string { return "'" + replacer.Replace(text) + "'" }
}

// write writes the commands. A variable without a value is removed: it could be of an earlier host.
func (s syntax) write(out io.Writer, all variables) error {
	var text strings.Builder
	for _, v := range all {
		if v.value == "" {
			fmt.Fprintf(&text, s.remove, v.name)
			continue
		}
		fmt.Fprintf(&text, s.set, v.name, s.word(v.value))
	}
	_, err := io.WriteString(out, text.String())
	return err
}
