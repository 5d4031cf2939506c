package app

import (
	"context"
	stderrors "errors"
	"fmt"
	"strings"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// The exit codes. A script branches on them.
const (
	ExitFine        = 0 // what was asked for is done
	ExitFailure     = 1 // another failure, such as a file that cannot be read
	ExitUsage       = 2 // a wrong command line, or invalid input: nothing was sent
	ExitRefused     = 3 // the service refused
	ExitUnknown     = 4 // the outcome is unknown: a payment may have been made; run it again with the same key
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
		return ExitUnknown
	}
	if _, ok := stderrors.AsType[*errors.InDoubt](err); ok {
		return ExitUnknown
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
