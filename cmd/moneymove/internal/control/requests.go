package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/plaintext"
)

// filter says which requests are shown.
type filter struct{ path, status, slug, account string }

// check refuses a filter that no request can pass.
func (f filter) check() error {
	if _, err := path.Match(f.path, ""); err != nil {
		return app.Usagef("-path %q is not a pattern; give one such as '/dapi/v1/payouts/*'", f.path)
	}
	if f.status == "" {
		return nil
	}
	digits := strings.TrimSuffix(f.status, "xx")
	if n, err := strconv.Atoi(digits); err != nil || n < 0 || len(f.status) != 3 && f.status != "0" {
		return app.Usagef("-status is %q; give one such as 409, a class such as 4xx, or 0 for no response", f.status)
	}
	return nil
}

// passes reports whether a request is shown. A path with a star is a pattern for the whole path, and any other a part
// of it.
func (f filter) passes(e RequestLine) bool {
	if strings.Contains(f.path, "*") {
		if matches, _ := path.Match(f.path, e.Path); !matches {
			return false
		}
	} else if !strings.Contains(e.Path, f.path) {
		return false
	}
	status := strconv.Itoa(e.Status)
	if class, ok := strings.CutSuffix(f.status, "xx"); ok {
		if strconv.Itoa(e.Status/100) != class {
			return false
		}
	} else if f.status != "" && f.status != status {
		return false
	}
	return (f.slug == "" || f.slug == e.Slug) && (f.account == "" || f.account == e.Account)
}

// entry is a request, as text of the host and decoded.
type entry struct {
	RequestLine
	text jsontext.Value
}

// entries reads the requests that the host has logged.
func (c *Client) entries(ctx context.Context) ([]entry, error) {
	var all list[jsontext.Value]
	if err := c.Get(ctx, "/requests", &all); err != nil {
		return nil, err
	}
	entries := make([]entry, len(all.Items))
	for i, text := range all.Items {
		entries[i].text = text
		if err := c.decode(text, &entries[i].RequestLine); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// listing is the command requests.
type listing struct {
	app     *app.App
	filter  filter
	last    int
	follow  bool
	verbose bool
}

func requestsCommand(a *app.App) *cobra.Command {
	l := listing{app: a}
	command := &cobra.Command{
		Use:   "requests",
		Short: "Show the requests that the host received",
		Long: `Shows the requests that the host received, oldest first. With -f it then shows
each request as it comes, until it is interrupted (Ctrl-C). After a lost
connection it goes on where it was.`,
		Example: `  moneymove requests -f -v
  moneymove requests -status 4xx -path /payouts -o json`,
	}
	target := NewTarget(a, command)
	flags := command.Flags()
	flags.BoolVarP(&l.follow, "follow", "f", false, "show requests as they come")
	flags.BoolVarP(&l.verbose, "verbose", "v", false, "add time, account, idempotency key, replay and fault")
	flags.IntVarP(&l.last, "last", "n", 0, "show at most this `number` of the latest requests (default: all, 10 with -f)")
	flags.StringVar(&l.filter.path, "path", "", "only paths with this `text`, or paths that a pattern with * matches")
	flags.StringVar(&l.filter.status, "status", "", "only this `status`, or a class such as 4xx")
	flags.StringVar(&l.filter.slug, "slug", "", "only requests that were refused with this `code`")
	flags.StringVar(&l.filter.account, "account", "", "only requests for this account, an `id` or self")
	target.suggestFor(command, "slug", slugs)
	target.suggestFor(command, "account", accountNames)
	_ = command.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(
		[]string{"0", "2xx", "4xx", "5xx"}, cobra.ShellCompDirectiveNoFileComp))
	command.RunE = func(c *cobra.Command, _ []string) error {
		if l.last < 0 {
			return app.Usagef("-last is %d; give 1 or more", l.last)
		}
		if l.follow && !c.Flags().Changed("last") {
			l.last = 10
		}
		if err := l.filter.check(); err != nil {
			return err
		}
		client, err := target.Client()
		if err != nil {
			return err
		}
		return l.run(c.Context(), client)
	}
	return command
}

func (l listing) run(ctx context.Context, client *Client) error {
	asJSON, err := l.app.JSON()
	if err != nil {
		return err
	}
	all, err := client.entries(ctx)
	if err != nil {
		return err
	}
	newest := int64(0)
	var selected []entry
	for _, e := range all {
		newest = max(newest, e.ID)
		if l.filter.passes(e.RequestLine) {
			selected = append(selected, e)
		}
	}
	if l.last > 0 {
		selected = selected[max(0, len(selected)-l.last):]
	}
	if asJSON && !l.follow {
		texts := make([]jsontext.Value, len(selected))
		for i, e := range selected {
			texts[i] = e.text
		}
		return l.app.PrintJSON(list[jsontext.Value]{texts})
	}
	show := func(e entry) error {
		if !l.filter.passes(e.RequestLine) {
			return nil
		}
		if asJSON {
			return l.app.PrintJSON(e.text)
		}
		w, colors := l.app.Painted(false)
		style := LineStyle{Verbose: l.verbose, Colors: colors}
		_, err := fmt.Fprintln(w, style.Line(e.RequestLine))
		return err
	}
	for _, e := range selected {
		if err := show(e); err != nil {
			return err
		}
	}
	if !l.follow {
		return nil
	}
	return client.follow(ctx, newest, show, func(problem error) {
		l.app.Say("moneymove: %v; waiting for the host", problem)
	})
}

// RequestLine is a request, as the host's controls describe it.
type RequestLine struct {
	ID             int64     `json:"id"`
	Time           time.Time `json:"time"` // on the host's clock
	Method         string    `json:"method"`
	Path           string    `json:"path"`
	Status         int       `json:"status"` // 0 if the connection was closed without a response
	Slug           string    `json:"slug"`
	Account        string    `json:"account"`
	IdempotencyKey string    `json:"idempotencyKey"`
	Replayed       bool      `json:"replayed"` // the stored response of an earlier request with the key
	Repeated       bool      `json:"repeated"` // arrived a second time through a fault
	Fault          string    `json:"fault"`
	Do             string    `json:"do"` // about the slug
}

// LineStyle says how lines look.
type LineStyle struct {
	// Verbose adds the time, the account, the idempotency key, and what a fault or a replay did.
	Verbose bool
	// Colors are for terminals.
	Colors bool
}

// The columns. A longer path moves the rest of its line.
const (
	methodWidth = 6
	pathWidth   = 44
)

// Line returns the request as one line, without its end. What a caller wrote cannot move the cursor.
func (s LineStyle) Line(e RequestLine) string {
	var line strings.Builder
	status := "---"
	if e.Status != 0 {
		status = fmt.Sprintf("%03d", e.Status)
	}
	line.WriteString(s.colored(e.Status, status))
	if s.Verbose {
		line.WriteString("  " + e.Time.UTC().Format("15:04:05.000"))
	}
	fmt.Fprintf(&line, "  %-*s  %-*s", methodWidth, plaintext.Line(e.Method), pathWidth, plaintext.Line(e.Path))
	add := func(text string) {
		if text != "" {
			line.WriteString("  " + plaintext.Line(text))
		}
	}
	add(e.Slug)
	if e.Status == 0 {
		add("no response")
	}
	if !s.Verbose {
		return strings.TrimRight(line.String(), " ")
	}
	add(named("account", e.Account))
	add(named("key", e.IdempotencyKey))
	if e.Replayed {
		add("replayed")
	}
	if e.Repeated {
		add("repeated")
	}
	add(named("fault", e.Fault))
	return strings.TrimRight(line.String(), " ")
}

func named(name, value string) string {
	if value == "" {
		return ""
	}
	return name + "=" + value
}

// The colors of a terminal: green for what was done, yellow for a refusal, red for what nobody expects.
const (
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
	normal = "\x1b[0m"
)

func (s LineStyle) colored(status int, text string) string {
	if !s.Colors {
		return text
	}
	color := red
	switch status / 100 {
	case 1, 2, 3:
		color = green
	case 4:
		color = yellow
	}
	return color + text + normal
}

// The host sends something at least every 15 seconds. Without a sign of it for three times as long, the connection is
// lost, whatever the network says.
const silence = 45 * time.Second

// The pauses before a new connection.
const (
	shortestPause = 200 * time.Millisecond
	longestPause  = 5 * time.Second
)

// position is where a connection to the events begins.
type position struct {
	after int64  // the id of a request, for the first connection
	event string // the id of the last event, which names the host too
}

// follow calls show with each request after the one with the given id, until ctx ends or show fails. When the
// connection is lost, it calls lost, connects again, and goes on where it was. A host that was started again since
// begins with its first request.
func (c *Client) follow(ctx context.Context, after int64, show func(entry) error, lost func(error)) error {
	pause, told := shortestPause, false
	at := position{after: after}
	for {
		connected, err := c.stream(ctx, &at, show)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the person has seen enough
		}
		if failure, ok := errors.AsType[*app.Failure](err); !ok || failure.Code != app.ExitUnreachable {
			return err
		}
		if connected {
			pause, told = shortestPause, false
		}
		if !told {
			lost(err)
			told = true
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

// stream shows requests as they come over one connection, and moves the position on. It reports whether there was a
// connection.
func (c *Client) stream(ctx context.Context, at *position, show func(entry) error) (connected bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	header := http.Header{"Accept": {"text/event-stream"}}
	if at.event != "" {
		header.Set("Last-Event-ID", at.event)
	}
	response, err := c.send(ctx, http.MethodGet, "/events?after="+strconv.FormatInt(at.after, 10), nil, header)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			err = c.lostError(http.MethodGet, errSilent)
		}
		return false, err
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 4<<20)
	var event struct {
		id, kind string
		data     []string
	}
	for lines.Scan() {
		quiet.Reset(silence)
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			event.id = value
		case "event":
			event.kind = value
		case "data":
			event.data = append(event.data, value)
		}
		if lines.Text() != "" { // an empty line ends the event
			continue
		}
		if event.kind == "request" {
			e := entry{text: []byte(strings.Join(event.data, "\n"))}
			if err := c.decode(e.text, &e.RequestLine); err != nil {
				return true, err
			}
			at.event = event.id
			if err := show(e); err != nil {
				return true, err
			}
		}
		event.id, event.kind, event.data = "", "", nil
	}
	err = lines.Err()
	if err == nil || errors.Is(err, context.Canceled) {
		err = errSilent
	}
	return true, c.lostError(http.MethodGet, err)
}

// errSilent says that a host ended the stream, or sent nothing.
var errSilent = errors.New("the host sends nothing any more")
