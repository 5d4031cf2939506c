package host

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/target"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
)

func contactsCommand(a *app.App) *cobra.Command {
	group := &cobra.Command{Use: "contacts", Short: "Contacts: the saved destinations of payments"}
	group.AddCommand(createContactCommand(a), contactCapabilitiesCommand(a), deleteContactCommand(a),
		listContactsCommand(a))
	return group
}

func contactCapabilitiesCommand(a *app.App) *cobra.Command {
	where := target.New(a)
	command := &cobra.Command{
		Use: "capabilities ID", Short: "Show how a contact can be paid, and what prevents it",
		Long: `Shows how a contact can be paid, and the blockers: the reasons why it cannot be paid. The service has no call that
returns a contact itself on the platform API.`,
		Example: "  moneymove contacts capabilities ct_1 -as cl_123",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: oneArgument(contactIDs(where)),
		RunE: func(c *cobra.Command, args []string) error {
			account, err := where.Account()
			if err != nil {
				return err
			}
			found, err := account.Contacts.Capabilities(c.Context(), dapi.ContactID(args[0]))
			if err != nil {
				return err
			}
			return a.Print(found, func() app.Table { return capabilityTable(found) })
		},
	}
	where.PlatformFlags(command.Flags())
	return command
}

func capabilityTable(c *dapi.ContactCapabilities) app.Table {
	table := app.Table{Rows: [][]string{{"contact", string(c.ContactID)}, {"payment", payable(c)}}}
	for _, blocker := range c.Blockers {
		table.Rows = append(table.Rows, []string{"blocker", blockerLine(blocker)})
	}
	return table
}

func deleteContactCommand(a *app.App) *cobra.Command {
	where := target.New(a)
	command := &cobra.Command{
		Use: "delete ID", Short: "Delete a contact, which then cannot be paid any more",
		Example: "  moneymove contacts delete ct_1 -as cl_123",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: oneArgument(contactIDs(where)),
		RunE: func(c *cobra.Command, args []string) error {
			account, err := where.Account()
			if err != nil {
				return err
			}
			if err := account.Contacts.Delete(c.Context(), dapi.ContactID(args[0])); err != nil {
				return err
			}
			return a.Print(map[string]string{"deleted": args[0]}, func() app.Table {
				return app.Table{Rows: [][]string{{args[0] + " is deleted."}}}
			})
		},
	}
	where.PlatformFlags(command.Flags())
	return command
}

func listContactsCommand(a *app.App) *cobra.Command {
	where := target.New(a)
	limit := 0
	command := &cobra.Command{
		Use: "list", Short: "List the contacts of the account that the app API key belongs to",
		Long: `Lists the contacts of an account. Only the app API has such a list, so it needs the app API key and not the developer
key, and it lists the contacts of that key's account. The platform API has no list: keep the ids of contacts that you
create there.`,
		Example: "  moneymove contacts list -api-key-file key.txt",
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 1 {
				return app.Usagef("-limit is %d: give 1 or more", limit)
			}
			client, err := where.App()
			if err != nil {
				return err
			}
			found := []appapi.Contact{}
			for contact, err := range client.Contacts.All(c.Context(), appapi.ListContactsParams{}) {
				if err != nil {
					return err
				}
				if found = append(found, contact); len(found) == limit {
					break
				}
			}
			return a.Print(items[appapi.Contact]{found}, func() app.Table { return contactTable(found) })
		},
	}
	where.HostFlags(command.Flags())
	where.AppFlags(command.Flags())
	command.Flags().IntVarP(&limit, "limit", "n", 1000, "list at most this `number`")
	return command
}

func contactTable(contacts []appapi.Contact) app.Table {
	table := app.Table{Head: []string{"CONTACT", "NAME", "DESTINATION", "CREATED"}}
	for _, c := range contacts {
		table.Rows = append(table.Rows, []string{c.ID, c.Name, destination(c.Account),
			c.CreatedAt.UTC().Format(time.RFC3339)})
	}
	return table
}

// destination shows in a few words where a contact of the app API is paid.
func destination(account model.ContactAccount) string {
	switch to := account.Variant().(type) {
	case model.OnchainAccount:
		return string(to.ChainID) + " " + to.Currency + " " + to.WalletAddress
	case model.EmailAccount:
		return to.Email
	}
	return ""
}
