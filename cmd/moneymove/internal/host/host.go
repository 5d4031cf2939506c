// Package host has the commands that call a host of the service: the sandbox host on this machine, or any other.
// Package host has the commands that call a host of the service: the sandbox host on this machine, or any other.
package host

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// Commands returns the commands.
func Commands(a *app.App) []*cobra.Command {
	return []*cobra.Command{
		loginCommand(a), logoutCommand(a), tokenCommand(a), callCommand(a), signCommand(a),
		payCommand(a), payoutsCommand(a), contactsCommand(a), txCommand(a), ratesCommand(a), checkCommand(a),
	}
}

// items is a list as the commands print it.
type items[T any] struct {
	Items []T `json:"items"`
}

// sessionView is the result of login and logout. It shows no token.
type sessionView struct {
	URL       string    `json:"url"`
	Email     string    `json:"email,omitzero"`
	File      string    `json:"file"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	Refresh   time.Time `json:"refreshExpiresAt,omitzero"`
	Removed   bool      `json:"removed,omitzero"`
}

func loginCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	command := &cobra.Command{
		Use:   "login",
		Short: "Log in with the developer key, and keep the session in a file",
		Long: `Logs in with the developer key: it asks for a challenge, signs it, and gets a session. The session is kept in a
file that only you can read (mode 0600), one file for each host, email and key, or in the file of -session. The other
commands use it, renew it, and log in by themselves if there is none: so you need login only to see whether the
credentials work. It prints no token.

An access token is valid for 60 minutes, and the session can be renewed for 60 days.`,
		Example: "  moneymove login\n" +
			"  moneymove login -url https://host -email ops@example.com -key-file developer.pem",
		RunE: func(c *cobra.Command, _ []string) error {
			session, err := where.LogIn(c.Context())
			if err != nil {
				return err
			}
			view := sessionView{File: session.File, ExpiresAt: session.ExpiresAt, Refresh: session.RefreshExpiresAt}
			return printSession(a, where, view)
		},
	}
	where.SessionFlags(command.Flags())
	return command
}

func printSession(a *app.App, where *client.Target, view sessionView) error {
	base, err := where.BaseURL()
	if err != nil {
		return err
	}
	developer, err := where.Developer()
	if err != nil {
		return err
	}
	view.URL, view.Email = base.String(), developer.Email
	return a.Print(view, func() app.Table {
		return app.Table{Rows: [][]string{
			{"host", view.URL}, {"email", view.Email}, {"session file", view.File},
			{"access until", view.ExpiresAt.Format(time.RFC3339)},
			{"renewable until", view.Refresh.Format(time.RFC3339)},
		}}
	})
}

func logoutCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	command := &cobra.Command{
		Use:   "logout",
		Short: "Remove the session file",
		Long: `Removes the session and its file. A link that -session names stays, and leads to a file without a session. A file
of something else is refused. The service has no call that ends a session: its tokens stay valid until they expire. To
stop them at once, delete the developer key in the service's own application.`,
		RunE: func(c *cobra.Command, _ []string) error {
			file, was, err := where.Forget(c.Context())
			if err != nil {
				return err
			}
			base, err := where.BaseURL()
			if err != nil {
				return err
			}
			return a.Print(sessionView{URL: base.String(), File: file, Removed: was}, func() app.Table {
				if !was {
					return app.Table{Rows: [][]string{{"there was no session in " + file}}}
				}
				return app.Table{Rows: [][]string{{"removed " + file}}}
			})
		},
	}
	where.SessionFlags(command.Flags())
	return command
}

func tokenCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	var to string
	command := &cobra.Command{
		Use:   "token",
		Short: "Print an access token of the platform API, for curl",
		Long: `Prints an access token that the host accepts now. It logs in or renews the session if needed. The token is valid for
at most 60 minutes, so ask for it again in each script:

  curl -H "Authorization: Bearer $(moneymove token)" "$MONEYMOVEMENT_BASE_URL/dapi/v1/chains"

This is the only command that prints a secret, and it prints one of a host on this machine only. For another host it
writes the token to the file of -to, which it creates with mode 0600 or replaces. A link stays. With "moneymove call"
no token leaves the command.`,
		Example: "  moneymove token\n" +
			"  moneymove token -url https://host -email ops@example.com -key-file developer.pem -to token.txt",
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := where.BaseURL(); err != nil {
				return err
			}
			if to == "" && !where.Loopback() {
				return app.Usagef("the host is not on this machine, so its token is not printed: " +
					"write it to a file with -to FILE, or use moneymove call, which needs no token")
			}
			session, err := where.Session(c.Context())
			if err != nil {
				return err
			}
			if to != "" {
				return app.ReplaceFile(to, []byte(session.AccessToken.Reveal()+"\n"))
			}
			if a.Terminal {
				a.Say("moneymove: warning: the next line is a secret, which the terminal may keep")
			}
			_, err = fmt.Fprintln(a.Out, session.AccessToken.Reveal())
			return err
		},
	}
	where.SessionFlags(command.Flags())
	command.Flags().StringVar(&to, "to", "", "write the token to this `file`, with mode 0600, and print nothing")
	return command
}

// completionTimeout is how long a shell waits for suggestions at most.
const completionTimeout = 2 * time.Second

// suggested returns what a shell suggests for an argument. It never asks for a passphrase: if it would need one to log
// in, it suggests nothing.
func suggested(
	where *client.Target, ask func(ctx context.Context, account *dapi.Account) []string,
) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
		defer cancel()
		account, err := where.Account()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return ask(ctx, account), cobra.ShellCompDirectiveNoFileComp
	}
}

// oneArgument completes the only argument of a command.
func oneArgument(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(c, args, typed)
	}
}

// payoutIDs completes the id of a payout from the newest entries of the ledger.
func payoutIDs(where *client.Target) cobra.CompletionFunc {
	return oneArgument(suggested(where, func(ctx context.Context, account *dapi.Account) (ids []string) {
		for _, entry := range newestPayouts(ctx, account) {
			ids = append(ids, fmt.Sprintf("%s\t%s %s %s", entry.PayoutID, entry.Amount, entry.Currency, entry.Status))
		}
		return ids
	}))
}

// contactIDs completes the id of a contact from the newest payouts: the platform API has no list of contacts.
func contactIDs(where *client.Target) cobra.CompletionFunc {
	const most = 10 // each of them is a call
	return suggested(where, func(ctx context.Context, account *dapi.Account) (ids []string) {
		entries := newestPayouts(ctx, account)
		seen := map[dapi.ContactID]bool{"": true}
		for _, entry := range entries[:min(most, len(entries))] {
			payout, err := account.Payouts.Get(ctx, entry.PayoutID)
			if err == nil && !seen[payout.ContactID] {
				seen[payout.ContactID] = true
				ids = append(ids, fmt.Sprintf("%s\tgot %s %s on %s", payout.ContactID, payout.Amount, payout.Currency,
					payout.CreatedAt.UTC().Format(time.DateOnly)))
			}
		}
		return ids
	})
}

// newestPayouts returns the newest entry of each of the newest payouts in the ledger.
func newestPayouts(ctx context.Context, account *dapi.Account) (entries []dapi.Transaction) {
	page, err := account.Transactions.List(ctx, dapi.ListTransactionsParams{Limit: 50})
	if err != nil {
		return nil
	}
	seen := map[dapi.PayoutID]bool{"": true}
	for _, entry := range page.Items {
		if !seen[entry.PayoutID] {
			seen[entry.PayoutID] = true
			entries = append(entries, entry)
		}
	}
	return entries
}
