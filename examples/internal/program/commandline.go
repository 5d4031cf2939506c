package program

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/moneymovement/moneymovement-go/examples/internal/target"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// CommandLine describes an example: the flags and arguments that it takes, and the host that it starts.
type CommandLine struct {
	Name      string
	Needs     []target.Need         // the credentials that it needs
	Flags     []func(*flag.FlagSet) // its other flags
	Arguments *[]string             // gets its arguments; nil if it takes none
	Host      []sandbox.Option      // the options of the host that it starts
}

// Help is the text that -h prints.
type Help struct{ Text string }

func (h *Help) Error() string { return h.Text }

// WrongCommandLine is the error of a command line that cannot be used.
type WrongCommandLine struct{ Problem string }

func (w *WrongCommandLine) Error() string { return w.Problem + "; -h lists the flags" }

func (line CommandLine) parse(args []string) (*target.Flags, error) {
	flags := flag.NewFlagSet(line.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error is printed once, by report
	where := target.Register(flags, line.Needs...)
	for _, register := range line.Flags {
		register(flags)
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		var text bytes.Buffer
		flags.SetOutput(&text)
		flags.Usage()
		return nil, &Help{text.String()}
	case err != nil:
		return nil, &WrongCommandLine{err.Error()}
	case line.Arguments != nil:
		*line.Arguments = flags.Args()
	case flags.NArg() > 0:
		return nil, &WrongCommandLine{fmt.Sprintf("unexpected argument %q", flags.Arg(0))}
	}
	if err := where.Complete(); err != nil {
		return nil, &WrongCommandLine{err.Error()}
	}
	return where, nil
}
