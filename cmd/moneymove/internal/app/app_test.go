package app_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// given is what a command line gave.
type given struct {
	name string
	yes  bool
	args []string
}

func parse(t *testing.T, args ...string) (g given, code int) {
	t.Helper()
	a := &app.App{In: strings.NewReader(""), Out: new(bytes.Buffer), Err: new(bytes.Buffer)}
	root := &cobra.Command{Use: "moneymove"}
	do := &cobra.Command{Use: "do", Args: cobra.ArbitraryArgs, RunE: func(_ *cobra.Command, args []string) error {
		g.args = args
		return nil
	}}
	do.Flags().StringVar(&g.name, "name", "", "")
	do.Flags().BoolVarP(&g.yes, "yes", "y", false, "")
	root.AddCommand(do)
	code = a.Run(t.Context(), root, args)
	return g, code
}

func TestFlagsHaveOneDashOrTwo(t *testing.T) {
	for line, want := range map[string]given{
		"do -name a -yes b":       {"a", true, []string{"b"}},
		"do --name=a --yes b":     {"a", true, []string{"b"}},
		"do -name=a -y":           {"a", true, []string{}},
		"do -name -name":          {"-name", false, []string{}},
		"do -name -yes -yes":      {"-yes", true, []string{}},
		"do -name -- -yes":        {"--", true, []string{}},
		"do -- -name":             {"", false, []string{"-name"}},
		"do -yes -- -yes -name=a": {"", true, []string{"-yes", "-name=a"}},
		"do -yes=false b c":       {"", false, []string{"b", "c"}},
	} {
		g, code := parse(t, strings.Fields(line)...)
		assert.Equal(t, want, g, line)
		assert.Equal(t, app.ExitFine, code, line)
	}
	for _, line := range []string{"do -nam a", "do -name", "do -yes=perhaps", "undo", "", "-o"} {
		_, code := parse(t, strings.Fields(line)...)
		assert.Equal(t, app.ExitUsage, code, line)
	}
}

func TestTables(t *testing.T) {
	var out bytes.Buffer
	a := &app.App{Out: &out, Terminal: true}
	table := app.Table{
		Head: []string{"NAME", "COUNT", "NOTE"}, Rows: [][]string{{"a\x1b[31m", "7", ""}, {"b", "12345678", "é"}},
		Right: []int{1},
	}
	assert.NoError(t, a.Print(nil, func() app.Table { return table }))
	assert.Equal(t, "NAME       COUNT  NOTE\na·[31m         7\nb       12345678  é\n", out.String())
	out.Reset()
	a.Terminal = false
	assert.NoError(t, a.Print(map[string]int{"b": 1, "a": 2}, nil))
	assert.Equal(t, "{\"a\":2,\"b\":1}\n", out.String())
}

func TestConfirm(t *testing.T) {
	for reply, want := range map[string]bool{"yes\n": true, "yes": true, "y\n": false, "no\n": false, "\n": false,
		"": false, "yesterday\n": false} {
		var shown bytes.Buffer
		a := &app.App{In: strings.NewReader(reply), Err: &shown, InTerminal: true, ErrTerminal: true}
		sure, err := a.ConfirmWithin(t.Context(), "Reset.\x1b[2J")
		assert.NoError(t, err)
		assert.Equal(t, want, sure, reply)
		assert.Contains(t, shown.String(), "Reset.·[2J ")
	}
	_, err := (&app.App{In: strings.NewReader("yes\n"), ErrTerminal: true}).ConfirmWithin(t.Context(), "Reset.")
	failure, ok := errors.AsType[*app.Failure](err)
	assert.True(t, ok && failure.Code == app.ExitUsage)
}

// Whatever a command does with text of a host, the terminal obeys nothing of it: errors, results in both forms, lines
// for people, and what is written past all of these. JSON in a pipe ends on a terminal, too.
func TestControlCharactersOfAHostAreRemoved(t *testing.T) {
	const hostile = "a\x1b[2J\u009b31m\u202eb\u2066\u2028\xff"
	for name, run := range map[string]func(a *app.App) error{
		"an error":  func(*app.App) error { return errors.New(hostile) },
		"a failure": func(*app.App) error { return app.Usagef("-as is %s", hostile) },
		"a line":    func(a *app.App) error { a.Say("it is %s", hostile); return nil },
		"a table":   func(a *app.App) error { return a.SayTable(app.Table{Rows: [][]string{{hostile}}}) },
		"on Err":    func(a *app.App) error { _, err := io.WriteString(a.Err, hostile); return err },
		"on Out":    func(a *app.App) error { _, err := io.WriteString(a.Out, hostile); return err },
		"a result": func(a *app.App) error {
			value := strings.ToValidUTF8(hostile, "")
			return a.Print(map[string]string{"id": value}, func() app.Table {
				return app.Table{Head: []string{value}, Rows: [][]string{{value}}}
			})
		},
	} {
		for _, form := range []string{"table", "json"} {
			t.Run(name+" as "+form, func(t *testing.T) {
				var shown bytes.Buffer
				a := &app.App{Out: &shown, Err: &shown, Terminal: true}
				root := &cobra.Command{Use: "moneymove", RunE: func(*cobra.Command, []string) error { return run(a) }}
				a.Run(t.Context(), root, []string{"-o", form})
				require.NotEmpty(t, shown.String())
				text := shown.String()
				for _, r := range text {
					assert.True(t, r == '\n' || unicode.IsPrint(r) && r != utf8.RuneError, "%q in %q", r, text)
				}
			})
		}
	}
	var piped bytes.Buffer
	require.NoError(t, (&app.App{Out: &piped}).PrintJSON(map[string]string{"id": "\u009b\u202e😀\U000e0041"}))
	clean := `{"id":"\u009b\u202e😀\udb40\udc41"}`
	assert.Equal(t, clean, strings.TrimSuffix(piped.String(), "\n"))
}

func TestColorsAreForTerminals(t *testing.T) {
	env := func(value string) func(string) string {
		return func(name string) string { return map[string]string{"NO_COLOR": value}[name] }
	}
	for _, isErr := range []bool{true, false} {
		painted := func(a app.App) bool {
			_, colors := a.Painted(isErr)
			return colors
		}
		assert.True(t, painted(app.App{Terminal: !isErr, ErrTerminal: isErr, Getenv: env("")}))
		assert.False(t, painted(app.App{Terminal: true, ErrTerminal: true, Getenv: env("1")}))
		assert.False(t, painted(app.App{Terminal: isErr, ErrTerminal: !isErr, Getenv: env("")}))
	}
}

// A person who does not answer does not hold the command up, and two questions read one line each.
func TestConfirmWithin(t *testing.T) {
	in, typed := io.Pipe()
	a := &app.App{In: in, Err: new(bytes.Buffer), InTerminal: true, ErrTerminal: true}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	cancel(why)
	sure, err := a.ConfirmWithin(ctx, "Reset.")
	assert.False(t, sure)
	assert.ErrorIs(t, err, why)
	assert.NoError(t, typed.Close())

	a = &app.App{In: strings.NewReader("yes\nno\nyes\n"), Err: new(bytes.Buffer), InTerminal: true, ErrTerminal: true}
	for _, want := range []bool{true, false, true, false} {
		sure, err := a.ConfirmWithin(t.Context(), "Reset.")
		assert.NoError(t, err)
		assert.Equal(t, want, sure)
	}
}
