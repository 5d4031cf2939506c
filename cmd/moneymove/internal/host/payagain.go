package host

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/target"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/shell"
)

// again returns the command line that makes the same payment. It has what only the environment says, because with
// another account the same key is another payment; and the history, which another machine does not have.
func (p *payingCommand) again(history dapi.History) string {
	words := append(strings.Fields(p.command.CommandPath()), p.args...)
	p.command.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "booked-before" && flag.Name != "first-used" {
			words = append(words, flagWords(flag)...)
		}
	})
	words = append(words, settingWords(p.where)...)
	if history.PayoutID != "" {
		words = append(words, "-booked-before", string(history.PayoutID))
	}
	if !history.FirstUsed.IsZero() {
		words = append(words, "-first-used", history.FirstUsed.UTC().Format(time.RFC3339))
	}
	return shell.Line(words...)
}

// flagWords returns a flag as it is typed.
func flagWords(flag *pflag.Flag) (words []string) {
	name := "-" + flag.Name
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		for _, value := range list.GetSlice() {
			words = append(words, name, value)
		}
		return words
	}
	if flag.NoOptDefVal != "" { // a switch takes its value after an equals sign
		if flag.Value.String() != flag.NoOptDefVal {
			name += "=" + flag.Value.String()
		}
		return []string{name}
	}
	return []string{name, flag.Value.String()}
}

// settingWords returns the flags for what only the environment says.
func settingWords(where *target.Target) (words []string) {
	for _, setting := range where.FromEnvironment() {
		words = append(words, "-"+setting.Flag, setting.Value)
	}
	return words
}
