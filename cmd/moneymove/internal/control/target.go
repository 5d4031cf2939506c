package control

import (
	"cmp"
	"context"
	"net"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// DefaultURL is where the controls of `moneymove sandbox -control` are.
const DefaultURL = "http://127.0.0.1:8080/_host"

// URLVariable names the variable of the environment that has the address of the controls.
const URLVariable = "MONEYMOVE_CONTROL_URL"

// Target is the host that a command is for.
type Target struct {
	app *app.App
	url string // of the flag
}

// NewTarget gives a command and those below it the flag -control-url.
func NewTarget(a *app.App, command *cobra.Command) *Target {
	t := &Target{app: a}
	command.PersistentFlags().StringVar(&t.url, "control-url", "",
		"`address` of the host's controls (default: MONEYMOVE_CONTROL_URL, or those of the host on this machine that "+
			"MONEYMOVEMENT_BASE_URL names, or "+DefaultURL+")")
	return t
}

// Client returns a client of the host's controls.
func (t *Target) Client() (*Client, error) {
	return NewClient(cmp.Or(t.url, t.app.Getenv(URLVariable), t.besideHost(), DefaultURL))
}

// besideHost returns the address of the controls of the host that the other commands call, if it is on this machine. No
// other host has controls.
func (t *Target) besideHost() string {
	base, err := url.Parse(t.app.Getenv("MONEYMOVEMENT_BASE_URL"))
	if err != nil || base.Scheme != "http" {
		return ""
	}
	if ip := net.ParseIP(base.Hostname()); base.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return ""
	}
	return base.JoinPath("_host").String()
}

// call makes a call and prints what the host returns: as it is for programs, and as a table for people.
func call[T any](
	ctx context.Context, t *Target, method, path string, body any, table func(T) app.Table,
) error {
	client, err := t.Client()
	if err != nil {
		return err
	}
	text, err := client.call(ctx, method, path, body)
	if err != nil {
		return err
	}
	var result T
	if err := client.decode(text, &result); err != nil {
		return err
	}
	return t.app.Print(jsontext.Value(text), func() app.Table { return table(result) })
}

// do makes a call whose response has no body, and prints what was done.
func do(ctx context.Context, t *Target, method, path string, body any, name, value, says string) error {
	client, err := t.Client()
	if err != nil {
		return err
	}
	if _, err := client.call(ctx, method, path, body); err != nil {
		return err
	}
	return t.app.Print(map[string]string{name: value},
		func() app.Table { return app.Table{Rows: [][]string{{says}}} })
}

// list is how the controls return several of something.
type list[T any] struct {
	Items []T `json:"items"`
}

// Commands returns the commands of this package. Those for developer keys are in [KeyCommands], because the group keys
// has more.
func Commands(a *app.App) []*cobra.Command {
	return []*cobra.Command{
		requestsCommand(a), ledgerCommand(a), accountsCommand(a), windowsCommand(a), clockCommand(a), faultCommand(a),
		settingsCommand(a), creditCommand(a), moveCommand(a), resetCommand(a),
	}
}
