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
// another account the same key is another payment. It never has -first, which is true for one run only, and this line
// may be run more than once.
func (p *payingCommand) again(payout *dapi.Payout) string {
	words := append(strings.Fields(p.command.CommandPath()), p.args...)
	p.command.Flags().Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "first", "booked-before", "first-used":
			return
		}
		words = append(words, flagWords(flag)...)
	})
	words = append(words, settingWords(p.where)...)
	booked := p.flags.bookedBefore
	if payout != nil && payout.ID != "" {
		booked = string(payout.ID)
	}
	if booked != "" {
		words = append(words, "-booked-before", booked)
	}
	if used := p.firstUsed(payout); used != "" {
		words = append(words, "-first-used", used)
	}
	return shell.Line(words...)
}

// firstUsed returns when the key was first used, or "" if that is not known. The booking has the time of a host, which
// can be in the future if the clock of a sandbox host was moved.
func (p *payingCommand) firstUsed(payout *dapi.Payout) string {
	if p.flags.firstUsed != "" {
		return p.flags.firstUsed
	}
	if payout == nil || payout.CreatedAt.IsZero() || payout.CreatedAt.After(time.Now()) {
		return ""
	}
	return payout.CreatedAt.UTC().Format(time.RFC3339)
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
