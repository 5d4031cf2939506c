// Package control has the commands that look into a running sandbox host and change what it does, over the host's
// controls. The host serves them to callers on the same machine, see the documentation of package sandbox.
package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/internal/plaintext"
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
		return nil, app.Usagef("-control-url %q is no address of a host's controls, such as %s", controlURL, DefaultURL)
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
		return nil, c.lost(method, err)
	}
	return text, nil
}

// send makes a call and returns a response that is no refusal.
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
		return nil, c.lost(method, err)
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return nil, c.refusal(ctx, response, text)
}

// lost says what a call without a response means: nobody listens, or a change may have been made.
func (c *Client) lost(method string, err error) error {
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
	return &app.Failure{Code: app.ExitUnknown, Err: fmt.Errorf("the connection to the host at %s was lost, and the "+
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
