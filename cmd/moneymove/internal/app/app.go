// Package app has what every command shares: the streams, the environment, how results are printed, and the exit code
// of each way in which a command can end.
package app

import (
	"bufio"
	"context"
	stderrors "errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/plaintext"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
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

// The exit codes. A script branches on them.
const (
	ExitFine        = 0 // what was asked for is done
	ExitFailure     = 1 // another failure, such as a file that cannot be read
	ExitUsage       = 2 // a wrong command line, or invalid input: nothing was sent
	ExitRefused     = 3 // the service refused
	ExitInDoubt     = 4 // the outcome is unknown: a payment may have been made; run it again with the same key
	ExitDecision    = 5 // a person must decide
	ExitUnreachable = 6 // the host cannot be reached: nothing happened
	ExitOtherwise   = 7 // what was waited for or checked ended otherwise, such as a payout that failed
	ExitInterrupted = 130
)

// Failure is an error with an exit code of its own.
type Failure struct {
	Code int
	Err  error
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Usagef says what is wrong with the command line, and how to mend it.
func Usagef(format string, args ...any) error {
	return &Failure{ExitUsage, fmt.Errorf(format, args...)}
}

// Otherwisef says that what was waited for or checked ended otherwise.
func Otherwisef(format string, args ...any) error {
	return &Failure{ExitOtherwise, fmt.Errorf(format, args...)}
}

// ExitCode returns the exit code of a command that ended with an error, or with nil.
func ExitCode(err error) int {
	if err == nil {
		return ExitFine
	}
	if own, ok := stderrors.AsType[*Failure](err); ok {
		return own.Code
	}
	if _, ok := stderrors.AsType[*errors.InvalidInput](err); ok {
		return ExitUsage
	}
	if _, ok := stderrors.AsType[*signing.ApprovalRefused](err); ok {
		return ExitDecision
	}
	if _, ok := stderrors.AsType[*signing.ChallengeRefused](err); ok { // a host that asks for such a signature lies
		return ExitDecision
	}
	failure, ofCall := stderrors.AsType[errors.Failure](err)
	if ofCall && failure.MovedByCall() == errors.MaybeMoved {
		return ExitInDoubt
	}
	if _, ok := stderrors.AsType[*errors.InDoubt](err); ok {
		return ExitInDoubt
	}
	if _, ok := stderrors.AsType[*errors.Refusal](err); ok { // also one of the login, which is inside NotDelivered
		return ExitRefused
	}
	if _, ok := stderrors.AsType[*errors.NotDelivered](err); ok {
		return ExitUnreachable
	}
	return ExitFailure
}

// end prints the error, if there is one, and returns the exit code. A command that runs until it is interrupted returns
// nil then. Any other command was interrupted before it was done.
func (a *App) end(err error) int {
	code := ExitCode(err)
	if stderrors.Is(err, context.Canceled) && (code == ExitFailure || code == ExitUnreachable) {
		return ExitInterrupted
	}
	switch {
	case err == nil:
	case a.asksForJSON:
		failed := failedCommand{Error: strings.ToValidUTF8(err.Error(), "�"), ExitCode: code}
		if refusal, ok := stderrors.AsType[*errors.Refusal](err); ok {
			failed.Code = string(refusal.Code)
		}
		_ = a.writeJSON(a.Err, failed) // it holds texts and a number
	default:
		_, _ = fmt.Fprintf(a.Err, "moneymove: %v\n", err)
	}
	return code
}

// failedCommand is an error for a program that asked for JSON.
type failedCommand struct {
	Error    string `json:"error"`
	Code     string `json:"code,omitzero"` // of a refusal
	ExitCode int    `json:"exitCode"`
}
