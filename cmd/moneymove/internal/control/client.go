// Package control has the command sandbox, which serves a sandbox host of the service on a port of this machine, and
// the commands that look into a running host and change what it does, over the host's controls. The host serves them to
// callers on the same machine, see the documentation of package sandbox.
package control

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/plaintext"
)

// Client calls the controls of a host.
type Client struct {
	url  string // without a slash at the end
	http *http.Client
}

const (
	callTimeout = 30 * time.Second
	maxResponse = 256 << 20 // the books of a host can be long
)

// NewClient returns a client of the controls at a URL such as http://127.0.0.1:8080/_host.
func NewClient(controlURL string) (*Client, error) {
	parsed, err := url.Parse(controlURL)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" || parsed.RawQuery != "" {
		return nil, app.Usagef("-control-url %q is not an address of a host's controls, such as %s",
			controlURL, DefaultURL)
	}
	// A redirect would send the call elsewhere, and the controls have none.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{strings.TrimRight(controlURL, "/"), &http.Client{CheckRedirect: stay}}, nil
}

// URL returns the address of the controls.
func (c *Client) URL() string { return c.url }

// Get reads from the controls into a value.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	text, err := c.call(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return c.decode(text, into)
}

func (c *Client) decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("the host at %s responded with what this command cannot read; are both of one version? %w",
			c.url, err)
	}
	return nil
}

// call makes a call with a body, or without one if body is nil, and returns the body of the response.
func (c *Client) call(ctx context.Context, method, path string, body any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := c.send(ctx, method, path, body, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, c.lostError(method, err)
	}
	return text, nil
}

// send makes a call and returns a response that is not a refusal.
func (c *Client) send(
	ctx context.Context, method, path string, body any, header http.Header,
) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, content)
	if err != nil {
		return nil, err
	}
	if header != nil {
		request.Header = header
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.lostError(method, err)
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return nil, c.refusal(ctx, response, text)
}

// lostError says what a call without a response means: nobody listens, or a change may have been made.
func (c *Client) lostError(method string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return &app.Failure{Code: app.ExitUnreachable, Err: fmt.Errorf("no host listens at %s: start one with "+
			"`moneymove sandbox -control`, or name another with -control-url or MONEYMOVE_CONTROL_URL (%w)",
			c.url, dial.Err)}
	}
	if method == http.MethodGet {
		return &app.Failure{Code: app.ExitUnreachable, Err: fmt.Errorf("the connection to the host at %s was lost: %w",
			c.url, err)}
	}
	return &app.Failure{Code: app.ExitInDoubt, Err: fmt.Errorf("the connection to the host at %s was lost, and the "+
		"change may have been made; look before you repeat it: %w", c.url, err)}
}

// Refusal is what the controls say about a call that they refuse.
type Refusal struct {
	Status  int
	Slug    string         `json:"code"`
	Message string         `json:"message"`
	Details jsontext.Value `json:"details"`
}

// Error returns the message, the details and the slug.
func (r *Refusal) Error() string {
	text := plaintext.Line(r.Message)
	if len(r.Details) > 0 {
		text += " " + plaintext.Line(string(r.Details))
	}
	return fmt.Sprintf("%s (%d %s)", text, r.Status, plaintext.Line(r.Slug))
}

// refusal returns the error of a refused call. A host without controls returns not_found for all of them.
func (c *Client) refusal(ctx context.Context, response *http.Response, text []byte) error {
	var body struct {
		Error *Refusal `json:"error"`
	}
	err := json.Unmarshal(text, &body)
	if err != nil || body.Error == nil || response.StatusCode == http.StatusNotFound && !c.served(ctx) {
		return &app.Failure{Code: app.ExitUnreachable, Err: fmt.Errorf("what listens at %s serves no controls: if it "+
			"is a sandbox host, start it with -control; and -control-url ends with /_host", c.url)}
	}
	body.Error.Status = response.StatusCode
	return &app.Failure{Code: app.ExitRefused, Err: body.Error}
}

// served reports whether the host has controls: then it says what time it is.
func (c *Client) served(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/clock", nil)
	if err != nil {
		return false
	}
	response, err := c.http.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode == http.StatusOK
}

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

// suggestTimeout is how long a shell waits for suggestions at most.
const suggestTimeout = 2 * time.Second

// suggest asks the host for values that a shell can complete. Without a host, it suggests nothing.
func (t *Target) suggest(
	ctx context.Context, ask func(context.Context, *Client) ([]string, error),
) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(ctx, suggestTimeout)
	defer cancel()
	client, err := t.Client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	values, err := ask(ctx, client)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return values, cobra.ShellCompDirectiveNoFileComp
}

// suggestFor completes the values of a flag.
func (t *Target) suggestFor(
	command *cobra.Command, flag string, ask func(context.Context, *Client) ([]string, error),
) {
	_ = command.RegisterFlagCompletionFunc(flag,
		func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return t.suggest(c.Context(), ask)
		})
}

// operation is what a fault can be armed for.
type operation struct {
	Surface   string `json:"surface"`
	Method    string `json:"method"`
	Path      string `json:"path"`
	Operation string `json:"operation"`
	Summary   string `json:"summary"`
}

func operations(ctx context.Context, client *Client) ([]operation, error) {
	var all list[operation]
	err := client.Get(ctx, "/operations", &all)
	return all.Items, err
}

// pathsOf returns the paths of the operations with a method.
func pathsOf(method string) func(context.Context, *Client) ([]string, error) {
	return func(ctx context.Context, client *Client) ([]string, error) {
		all, err := operations(ctx, client)
		var paths []string
		for _, o := range all {
			if method == "" || o.Method == strings.ToUpper(method) {
				paths = append(paths, o.Path+"\t"+o.Summary)
			}
		}
		return paths, err
	}
}

// slugs returns the codes of refusals, each with what it means.
func slugs(ctx context.Context, client *Client) ([]string, error) {
	var all list[struct {
		Slug    string `json:"slug"`
		Meaning string `json:"meaning"`
	}]
	err := client.Get(ctx, "/slugs", &all)
	names := make([]string, len(all.Items))
	for i, s := range all.Items {
		names[i] = s.Slug + "\t" + s.Meaning
	}
	slices.Sort(names)
	return names, err
}
