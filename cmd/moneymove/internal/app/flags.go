package app

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// twoDashes writes a long flag with two dashes if it has one. The commands of Go take both, and so does this one. A
// single letter stays as it is, and so does the value of a flag. What follows the argument "--" is left alone.
func twoDashes(root *cobra.Command, args []string) []string {
	long := map[string]*pflag.Flag{"help": {NoOptDefVal: "true"}}
	collect(root, long)
	written := make([]string, len(args))
	isValue := false
	for i, arg := range args {
		if arg == "--" && !isValue {
			copy(written[i:], args[i:])
			break
		}
		written[i] = arg
		name, _, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		flag := long[name]
		switch {
		case isValue, flag == nil, len(name) < 2, !strings.HasPrefix(arg, "-"):
			isValue = false
			continue
		case !strings.HasPrefix(arg, "--"):
			written[i] = "-" + arg
		}
		isValue = flag.NoOptDefVal == "" && !hasValue
	}
	return written
}

func collect(command *cobra.Command, long map[string]*pflag.Flag) {
	note := func(flag *pflag.Flag) { long[flag.Name] = flag }
	command.Flags().VisitAll(note)
	command.PersistentFlags().VisitAll(note)
	for _, below := range command.Commands() {
		collect(below, long)
	}
}

// refuseWrongArguments makes a wrong number of arguments, an unknown command and a missing command an error of the
// command line, in every command.
func refuseWrongArguments(command *cobra.Command) {
	check := command.Args
	if check == nil {
		check = cobra.NoArgs
	}
	command.Args = func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return Usagef("%w", err)
		}
		return nil
	}
	if !command.Runnable() {
		command.RunE = func(c *cobra.Command, _ []string) error {
			return Usagef("name one of its commands\n\n%s", c.UsageString())
		}
	}
	for _, below := range command.Commands() {
		refuseWrongArguments(below)
	}
}
