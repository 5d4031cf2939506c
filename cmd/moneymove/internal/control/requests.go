package control

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// filter says which requests are shown.
type filter struct{ path, status, slug, account string }

// check refuses a filter that no request can pass.
func (f filter) check() error {
	if _, err := path.Match(f.path, ""); err != nil {
		return app.Usagef("-path %q is no pattern; give one such as '/dapi/v1/payouts/*'", f.path)
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
	var shown []entry
	for _, e := range all {
		newest = max(newest, e.ID)
		if l.filter.passes(e.RequestLine) {
			shown = append(shown, e)
		}
	}
	if l.last > 0 {
		shown = shown[max(0, len(shown)-l.last):]
	}
	if asJSON && !l.follow {
		texts := make([]jsontext.Value, len(shown))
		for i, e := range shown {
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
	for _, e := range shown {
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
