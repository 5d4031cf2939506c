package control

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// kind is a kind of fault: what happens, and the flags that it has.
type kind struct {
	name, says string
	flags      []string
}

var kinds = []kind{
	{"drop_before", "close the connection before the operation runs", nil},
	{"drop_after_commit", "run the operation, and close the connection without a response", nil},
	{"respond", "send this response in place of the operation's",
		[]string{"status", "slug", "message", "details", "header", "body", "after-commit"}},
	{"garbage", "send an HTML page, as a proxy does", []string{"status", "after-commit"}},
	{"truncate", "run the operation, and cut its response short", []string{"keep"}},
	{"delay", "wait before the operation, or after it", []string{"delay", "after-commit"}},
	{"expire_token", "expire the access token of the request", nil},
	{"duplicate", "let the request arrive a second time, and drop the second response", []string{"after"}},
	{"repeat", "let the request arrive a second time, and drop the first response", nil},
	{"foreign", "send an earlier response of the operation, to another request",
		[]string{"other-account", "after-commit"}},
}

// faultBody is a fault in JSON, with the members that its kind has.
type faultBody struct {
	Kind         string            `json:"kind"`
	Status       int               `json:"status,omitzero"`
	Code         string            `json:"code,omitzero"`
	Message      string            `json:"message,omitzero"`
	Details      jsontext.Value    `json:"details,omitzero"`
	Headers      map[string]string `json:"headers,omitzero"`
	Body         string            `json:"body,omitzero"`
	AfterCommit  bool              `json:"afterCommit,omitzero"`
	Delay        string            `json:"delay,omitzero"`
	After        string            `json:"after,omitzero"`
	OtherAccount bool              `json:"otherAccount,omitzero"`
	Keep         int               `json:"keep,omitzero"`
}

// armed is a fault that waits for its requests.
type armed struct {
	ID       string    `json:"id,omitzero"`
	Method   string    `json:"method,omitzero"` // "" is any
	Path     string    `json:"path"`
	Times    int       `json:"times,omitzero"`
	Consumed int       `json:"consumed,omitzero"`
	Disarmed bool      `json:"disarmed,omitzero"`
	Fault    faultBody `json:"fault"`
}

func faultTable(faults []armed) app.Table {
	table := app.Table{
		Head:  []string{"FAULT", "METHOD", "PATH", "KIND", "HAPPENED", "OF", "STATE"},
		Right: []int{4, 5},
	}
	for _, f := range faults {
		state := "armed"
		switch {
		case f.Disarmed:
			state = "disarmed"
		case f.Consumed >= f.Times:
			state = "used up"
		}
		table.Rows = append(table.Rows, []string{f.ID, cmp.Or(f.Method, "any"), f.Path, f.Fault.Kind,
			strconv.Itoa(f.Consumed), strconv.Itoa(f.Times), state})
	}
	return table
}

func faultCommand(a *app.App) *cobra.Command {
	command := &cobra.Command{Use: "fault", Short: "Script what goes wrong, and see how often it did"}
	target := NewTarget(a, command)
	command.AddCommand(
		armCommand(target),
		&cobra.Command{
			Use: "list", Short: "List every fault that was armed, and how often it happened",
			RunE: func(c *cobra.Command, _ []string) error {
				return call(c.Context(), target, http.MethodGet, "/faults", nil,
					func(all list[armed]) app.Table { return faultTable(all.Items) })
			},
		},
		disarmCommand(target),
		&cobra.Command{
			Use: "operations", Short: "List the operations that a fault can be armed for",
			RunE: func(c *cobra.Command, _ []string) error {
				return call(c.Context(), target, http.MethodGet, "/operations", nil,
					func(all list[operation]) app.Table {
						table := app.Table{Head: []string{"METHOD", "PATH", "OPERATION", "SUMMARY"}}
						for _, o := range all.Items {
							table.Rows = append(table.Rows, []string{o.Method, o.Path, o.Operation, o.Summary})
						}
						return table
					})
			},
		})
	return command
}

// armFlags are the flags of the kinds.
type armFlags struct {
	times         int
	body          faultBody
	details       string
	headers       []string
	delay, lapsed time.Duration
}

func armCommand(target *Target) *cobra.Command {
	var f armFlags
	var says strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&says, "\n  %-18s %s", k.name, k.says)
	}
	command := &cobra.Command{
		Use:   "arm METHOD PATH KIND",
		Short: "Let a fault happen to the next requests for an operation",
		Long: `Lets a fault happen to the next requests for an operation. METHOD is any for all
methods. PATH is that of an operation, with or without /dapi/v1, such as
/payouts/{payoutId}/confirm; /** is every path. The kinds are
` + says.String(),
		Example: `  moneymove fault arm POST '/payouts/{payoutId}/confirm' drop_after_commit
  moneymove fault arm any '/**' respond -status 503 -slug database_unavailable -header 'Retry-After: 1'
  moneymove fault arm GET /chains delay -delay 2s -times 3`,
		Args: cobra.ExactArgs(3),
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return []string{"any", "GET", "POST", "PUT", "PATCH", "DELETE"}, cobra.ShellCompDirectiveNoFileComp
			case 1:
				return target.suggest(c.Context(), pathsOf(anyMethod(args[0])))
			case 2:
				return kindNames(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			order, err := f.order(c.Flags(), args)
			if err != nil {
				return err
			}
			return call(c.Context(), target, http.MethodPost, "/faults", order,
				func(f armed) app.Table { return faultTable([]armed{f}) })
		},
	}
	flags := command.Flags()
	flags.IntVar(&f.times, "times", 1, "happen to this `number` of requests")
	flags.IntVar(&f.body.Status, "status", 0, "HTTP `status` of respond and garbage")
	flags.StringVar(&f.body.Code, "slug", "", "`code` of the refusal that respond sends")
	flags.StringVar(&f.body.Message, "message", "", "`text` of the refusal that respond sends")
	flags.StringVar(&f.details, "details", "", "details of the refusal that respond sends, as `JSON`")
	flags.StringArrayVar(&f.headers, "header", nil, "`header` of respond, such as 'Retry-After: 1'; repeat it for more")
	flags.StringVar(&f.body.Body, "body", "", "`body` that respond sends in place of a refusal")
	flags.BoolVar(&f.body.AfterCommit, "after-commit", false,
		"run the operation first (respond, garbage, foreign, delay)")
	flags.DurationVar(&f.delay, "delay", 0, "`duration` of delay, on this machine's clock")
	flags.DurationVar(&f.lapsed, "after", 0, "let the duplicate arrive after this `duration` on the host's clock")
	flags.BoolVar(&f.body.OtherAccount, "other-account", false, "send foreign a response to another account")
	flags.IntVar(&f.body.Keep, "keep", 0, "`number` of bytes that truncate leaves (default: half)")
	target.suggestFor(command, "slug", slugs)
	return command
}

func kindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name + "\t" + k.says
	}
	return names
}

// anyMethod returns the method as the controls have it: "" is any.
func anyMethod(method string) string {
	if strings.EqualFold(method, "any") || method == "*" {
		return ""
	}
	return strings.ToUpper(method)
}

// order returns the body of the call, or says which flag the kind does not have.
func (f armFlags) order(flags *pflag.FlagSet, args []string) (armed, error) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == args[2] })
	if i < 0 {
		var names []string
		for _, k := range kinds {
			names = append(names, k.name)
		}
		return armed{}, app.Usagef("there is no kind of fault %q; the kinds are %s", args[2], strings.Join(names, ", "))
	}
	var foreign error
	flags.Visit(func(flag *pflag.Flag) {
		has := func(k kind) bool { return slices.Contains(k.flags, flag.Name) }
		if slices.ContainsFunc(kinds, has) && !has(kinds[i]) {
			foreign = app.Usagef("a fault of kind %s has no -%s", kinds[i].name, flag.Name)
		}
	})
	if foreign != nil {
		return armed{}, foreign
	}
	if f.times < 1 {
		return armed{}, app.Usagef("-times is %d; give 1 or more", f.times)
	}
	return f.filled(armed{Method: anyMethod(args[0]), Path: args[1], Times: f.times, Fault: f.body}, args[2])
}

// filled adds what flags give in another form than the controls.
func (f armFlags) filled(order armed, kindName string) (armed, error) {
	order.Fault.Kind = kindName
	if f.delay != 0 {
		order.Fault.Delay = f.delay.String()
	}
	if f.lapsed != 0 {
		order.Fault.After = f.lapsed.String()
	}
	if f.details != "" {
		var object map[string]any
		if err := json.Unmarshal([]byte(f.details), &object); err != nil {
			return order, app.Usagef("-details is not a JSON object: %w", err)
		}
		order.Fault.Details = jsontext.Value(f.details)
	}
	for _, header := range f.headers {
		name, value, ok := strings.Cut(header, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return order, app.Usagef("-header %q is not a header; give one such as 'Retry-After: 1'", header)
		}
		if order.Fault.Headers == nil {
			order.Fault.Headers = map[string]string{}
		}
		order.Fault.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return order, nil
}

func disarmCommand(target *Target) *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:   "disarm [ID]",
		Short: "Disarm a fault, or all of them with -all",
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return target.suggest(c.Context(), func(ctx context.Context, client *Client) ([]string, error) {
				var faults list[armed]
				err := client.Get(ctx, "/faults", &faults)
				var ids []string
				for _, f := range faults.Items {
					if !f.Disarmed && f.Consumed < f.Times {
						ids = append(ids, f.ID+"\t"+f.Fault.Kind+" "+f.Path)
					}
				}
				return ids, err
			})
		},
		RunE: func(c *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return app.Usagef("name one fault, or give -all")
			}
			if all {
				return do(c.Context(), target, http.MethodDelete, "/faults", nil, "disarmed", "all",
					"Every fault is disarmed.")
			}
			return do(c.Context(), target, http.MethodDelete, "/faults/"+escaped(args[0]), nil, "disarmed", args[0],
				args[0]+" is disarmed.")
		},
	}
	command.Flags().BoolVar(&all, "all", false, "disarm every fault")
	return command
}
