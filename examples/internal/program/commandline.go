package program

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/moneymovement/moneymovement-go/examples/internal/target"
)

// CommandLine is what an example takes.
type CommandLine struct {
	Name      string
	Needs     []target.Need         // credentials
	Flags     []func(*flag.FlagSet) // flags of its own
	Arguments *[]string             // where its arguments go; nil if it takes none
}

// Help is the answer to -h.
type Help struct{ Text string }

func (h *Help) Error() string { return h.Text }

// WrongCommandLine is a command line that makes no sense.
type WrongCommandLine struct{ Problem string }

func (w *WrongCommandLine) Error() string { return w.Problem + "; -h lists the flags" }

func (line CommandLine) parse(args []string) (*target.Flags, error) {
	flags := flag.NewFlagSet(line.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // what is wrong is said once, in the end
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
		return nil, &WrongCommandLine{fmt.Sprintf("there is no argument %q", flags.Arg(0))}
	}
	if err := where.Complete(); err != nil {
		return nil, &WrongCommandLine{err.Error()}
	}
	return where, nil
}
