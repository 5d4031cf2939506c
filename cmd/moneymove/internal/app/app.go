// Package app has what every command shares: the streams, the environment, how results are printed, and the exit code
// of each way in which a command can end.
package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/moneymovement/moneymovement-go/internal/plaintext"
)

// App is the process as a command sees it. A test gives it buffers and a map.
type App struct {
	In io.Reader
	// Out and Err get what a command writes. While it runs, no character that a terminal would obey passes Err, which
	// people read, and Out if it is a terminal. So no command has to think of what a host sends.
	Out, Err io.Writer
	// Getenv returns a variable of the environment, or "".
	Getenv func(name string) string
	// Terminal reports whether a person reads Out: then a result is a table, and otherwise JSON.
	Terminal bool
	// InTerminal reports whether a person types In, and can be asked. ErrTerminal reports whether a person reads Err.
	InTerminal, ErrTerminal bool

	// Out and Err for colors
	paintedOut, paintedErr io.Writer

	output      string // of the flag
	asksForJSON bool   // the command line says so, also if it is wrong
	explain     []func(context.Context, error) error

	inputOf string        // the flag or argument that has read standard input
	typed   *bufio.Reader // what a person types, nil before the first question
}

// System returns the process itself.
func System() *App {
	return &App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
		Terminal: isTerminal(os.Stdout), InTerminal: isTerminal(os.Stdin), ErrTerminal: isTerminal(os.Stderr),
	}
}

func isTerminal(file *os.File) bool {
	return term.IsTerminal(int(file.Fd()))
}

// Painted returns Out, or Err, for lines with colors, and whether they may have some: on a terminal, unless NO_COLOR is
// set (no-color.org). Whoever writes there must clean what is not its own.
func (a *App) Painted(isErr bool) (w io.Writer, colors bool) {
	w, colors = a.paintedOut, a.Terminal
	if isErr {
		w, colors = a.paintedErr, a.ErrTerminal
	}
	return w, colors && a.Getenv("NO_COLOR") == ""
}

// Say writes a line for people on Err. What it formats cannot begin another line.
func (a *App) Say(format string, args ...any) {
	_, _ = fmt.Fprintln(a.Err, plaintext.Line(fmt.Sprintf(format, args...)))
}

// Run runs the command that args name, and returns the exit code.
func (a *App) Run(ctx context.Context, root *cobra.Command, args []string) int {
	a.paintedOut, a.paintedErr = a.Out, a.Err
	a.Err = plaintext.NewWriter(a.Err)
	if a.Terminal {
		a.Out = plaintext.NewWriter(a.Out)
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentFlags().StringVarP(&a.output, "output", "o", "",
		"`form` of the output: table or json (default: table on a terminal, and otherwise json)")
	_ = root.RegisterFlagCompletionFunc("output",
		cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	root.SetFlagErrorFunc(wrongFlag)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.InitDefaultVersionFlag()
	refuseWrongArguments(root)
	a.asksForJSON = asksForJSON(args)
	args, oneDash := completed(twoDashes(root, args))
	if oneDash {
		root.SetOut(dashes{a.Out})
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	for _, explain := range a.explain {
		err = explain(ctx, err)
	}
	return a.end(err)
}

// Explain adds a function that may replace the error with which a command ends by one that says more. It gets nil for a
// success.
func (a *App) Explain(explain func(context.Context, error) error) {
	a.explain = append(a.explain, explain)
}
