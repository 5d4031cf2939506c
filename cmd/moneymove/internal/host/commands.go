// Package host has the commands that call a host of the service: the sandbox host on this machine, or any other.
package host

import (
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// Commands returns the commands.
func Commands(a *app.App) []*cobra.Command {
	return []*cobra.Command{
		loginCommand(a), logoutCommand(a), tokenCommand(a), callCommand(a), signCommand(a),
		payCommand(a), payoutsCommand(a), contactsCommand(a), txCommand(a), ratesCommand(a),
	}
}

// items is a list as the commands print it.
type items[T any] struct {
	Items []T `json:"items"`
}
