package app

import (
	"cmp"
	"errors"
	"io"
	"slices"
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

// asksForJSON reports whether a command line that may be wrong asks for JSON.
func asksForJSON(args []string) bool {
	for i, arg := range args {
		name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !hasValue && i+1 < len(args) {
			value = args[i+1]
		}
		if strings.HasPrefix(arg, "-") && (name == "o" || name == "output") && value == "json" {
			return true
		}
	}
	return false
}

// completed changes a command line that a shell wants to complete: cobra completes flags with two dashes only. It
// reports whether a person typed one dash, with which the shell expects the flags.
func completed(args []string) (changed []string, oneDash bool) {
	last := len(args) - 1
	if last < 1 || args[0] != cobra.ShellCompRequestCmd && args[0] != cobra.ShellCompNoDescRequestCmd ||
		len(args[last]) < 2 || !strings.HasPrefix(args[last], "-") || strings.HasPrefix(args[last], "--") {
		return args, false
	}
	return append(slices.Clone(args[:last]), "-"+args[last]), true
}

// dashes writes flags with one dash.
type dashes struct{ to io.Writer }

func (d dashes) Write(text []byte) (int, error) {
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "--") {
			lines[i] = line[1:]
		}
	}
	_, err := io.WriteString(d.to, strings.Join(lines, ""))
	return len(text), err
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
// command line that says what to write, in every command.
func refuseWrongArguments(command *cobra.Command) {
	check := command.Args
	if check == nil {
		check = cobra.NoArgs
	}
	group := !command.Runnable() || !command.HasParent()
	command.Args = func(c *cobra.Command, args []string) error {
		if check(c, args) == nil {
			return nil
		}
		if near := nearest(c, args); near != "" {
			return Usagef("unknown command %.100q: did you mean %q?", args[0], near)
		} else if group {
			return Usagef("unknown command %.100q: %q lists the commands", args[0], c.CommandPath()+" -h")
		}
		for fits := len(args) - 1; fits >= 0; fits-- { // without its last arguments it may be right
			if check(c, args[:fits]) == nil {
				return Usagef("there is an argument too many, %.100q: write %q", args[fits], usage(c))
			}
		}
		return Usagef("an argument is missing: write %q", usage(c))
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

// nearest returns the command below this one whose name is most like what was typed, or "".
func nearest(c *cobra.Command, args []string) string {
	if len(args) == 0 {
		return ""
	}
	c.SuggestionsMinimumDistance = 1 + len(args[0])/4
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return c.CommandPath() + " " + near[0]
	}
	return ""
}

// usage is how a command is written.
func usage(c *cobra.Command) string {
	if strings.Contains(c.Use, " ") {
		return strings.TrimSuffix(c.UseLine(), " [flags]")
	}
	return c.UseLine()
}

// wrongFlag says how to mend an error of the flags.
func wrongFlag(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return Usagef("unknown flag: -%.100s; %q lists the flags",
			cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()), c.CommandPath()+" -h")
	}
	return Usagef("%w", err)
}
