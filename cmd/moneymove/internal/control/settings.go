package control

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// values are the settings by name. The host's order is that of its documentation, which a map would lose.
type values []setting

type setting struct {
	name  string
	value jsontext.Value
}

// settingsOf reads an object.
func settingsOf(text []byte) (values, error) {
	var all values
	decoder := jsontext.NewDecoder(strings.NewReader(string(text)))
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String() // before the next read, which reuses the token
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		all = append(all, setting{key, value.Clone()})
	}
	return all, nil
}

func (v values) find(name string) (setting, error) {
	var near []string
	for _, s := range v {
		if strings.EqualFold(s.name, name) {
			return s, nil
		}
		if strings.Contains(strings.ToLower(s.name), strings.ToLower(name)) {
			near = append(near, s.name)
		}
	}
	if name != "" && len(near) > 0 {
		return setting{}, app.Usagef("the host has no setting %q; did you mean %s?", name, strings.Join(near, ", "))
	}
	return setting{}, app.Usagef("the host has no setting %q; `moneymove settings get` lists them", name)
}

// text returns the value for people.
func (s setting) text() string {
	var text string
	var texts []string
	switch {
	case json.Unmarshal(s.value, &text) == nil:
		return text
	case json.Unmarshal(s.value, &texts) == nil:
		return strings.Join(texts, ",")
	}
	return string(s.value)
}

// changed returns the value that a person gave, in the form that the setting has now.
func (s setting) changed(to string) (any, error) {
	switch s.value.Kind() {
	case 't', 'f':
		is, err := strconv.ParseBool(to)
		if err != nil {
			return nil, app.Usagef("%s is %q; give true or false", s.name, to)
		}
		return is, nil
	case '0':
		n, err := strconv.ParseInt(to, 10, 64)
		if err != nil {
			return nil, app.Usagef("%s is %q; give a whole number", s.name, to)
		}
		return n, nil
	case '"':
		return to, nil
	default: // a list; an empty one may be null
		if to == "" {
			return []string{}, nil
		}
		return strings.Split(to, ","), nil
	}
}

func settingsCommand(a *app.App) *cobra.Command {
	command := &cobra.Command{
		Use:   "settings",
		Short: "Show and change the host's settings: limits, durations and failures",
	}
	target := NewTarget(a, command)
	show := func(ctx context.Context, names []string) error {
		client, err := target.Client()
		if err != nil {
			return err
		}
		text, err := client.call(ctx, http.MethodGet, "/settings", nil)
		if err != nil {
			return err
		}
		var meanings map[string]string
		if err := client.Get(ctx, "/settings/meanings", &meanings); err != nil {
			return err
		}
		return printSettings(a, text, names, meanings)
	}
	get := &cobra.Command{
		Use: "get [NAME...]", Short: "Show all settings, or those that are named", Args: cobra.ArbitraryArgs,
		ValidArgsFunction: settingNames(""),
		RunE:              func(c *cobra.Command, args []string) error { return show(c.Context(), args) },
	}
	set := &cobra.Command{
		Use:   "set NAME=VALUE...",
		Short: "Change settings",
		Long: `Changes settings. The change applies from the next request on. Durations are such
as 300ms, lists have commas between their values. If one setting is invalid,
nothing changes.`,
		Example: `  moneymove settings set payoutStepAfter=1h kybDecision=reject
  moneymove settings set railsHidden=sepa,ach`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: settingNames("="),
		RunE: func(c *cobra.Command, args []string) error {
			client, err := target.Client()
			if err != nil {
				return err
			}
			text, names, err := client.change(c.Context(), args)
			if err != nil {
				return err
			}
			return printSettings(a, text, names, nil)
		},
	}
	command.AddCommand(get, set)
	return command
}

// change changes the settings that arguments such as NAME=VALUE name, and returns all settings and the names.
func (c *Client) change(ctx context.Context, args []string) (text []byte, names []string, err error) {
	if text, err = c.call(ctx, http.MethodGet, "/settings", nil); err != nil {
		return nil, nil, err
	}
	current, err := settingsOf(text)
	if err != nil {
		return nil, nil, err
	}
	body := map[string]any{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, nil, app.Usagef("%q is not NAME=VALUE, such as payoutStepAfter=1h", arg)
		}
		s, err := current.find(name)
		if err != nil {
			return nil, nil, err
		}
		if _, twice := body[s.name]; twice {
			return nil, nil, app.Usagef("%s is given twice", s.name)
		}
		if body[s.name], err = s.changed(value); err != nil {
			return nil, nil, err
		}
		names = append(names, s.name)
	}
	text, err = c.call(ctx, http.MethodPut, "/settings", body)
	return text, names, err
}

// printSettings prints the named settings, or all. A table for people has what they mean, if that is given.
func printSettings(a *app.App, text []byte, names []string, meanings map[string]string) error {
	all, err := settingsOf(text)
	if err != nil {
		return fmt.Errorf("the settings of the host cannot be read: %w", err)
	}
	selected := all
	if len(names) > 0 {
		selected = nil
		for _, name := range names {
			s, err := all.find(name)
			if err != nil {
				return err
			}
			selected = append(selected, s)
		}
	}
	result := map[string]jsontext.Value{}
	for _, s := range selected {
		result[s.name] = s.value
	}
	return a.Print(result, func() app.Table {
		table := app.Table{Head: []string{"SETTING", "VALUE", "WHAT IT DOES"}}
		if meanings == nil {
			table.Head = table.Head[:2]
		}
		for _, s := range selected {
			table.Rows = append(table.Rows, []string{s.name, s.text(), meanings[s.name]})
		}
		return table
	})
}

// settingNames completes the names of settings. They are known without a host.
func settingNames(after string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		text, err := json.Marshal(sandbox.DefaultSettings())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		all, err := settingsOf(text)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names := make([]string, len(all))
		for i, s := range all {
			names[i] = s.name + after
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		if after != "" {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return names, directive
	}
}
