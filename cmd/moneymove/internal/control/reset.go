package control

import (
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

func resetCommand(a *app.App) *cobra.Command {
	var yes bool
	command := &cobra.Command{
		Use:   "reset",
		Short: "Take the host back to its start",
		Long: `Takes the host back to its start: it forgets sessions, clients, money, faults and
requests, and has the settings and the clock of its start. The credentials stay
the same.`,
	}
	target := NewTarget(a, command)
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	command.RunE = func(c *cobra.Command, _ []string) error {
		client, err := target.Client()
		if err != nil {
			return err
		}
		if !yes {
			sure, err := a.ConfirmWithin(c.Context(), "The host at "+client.URL()+" forgets all that it has.")
			if err != nil {
				return err
			}
			if !sure {
				return errors.New("nothing was reset")
			}
		}
		return do(c.Context(), target, http.MethodPost, "/reset", nil, "reset", client.URL(),
			"The host is as it was at its start.")
	}
	return command
}
