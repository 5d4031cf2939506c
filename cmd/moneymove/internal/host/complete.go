package host

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/target"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// completionTimeout is how long a shell waits for suggestions at most.
const completionTimeout = 2 * time.Second

// suggested returns what a shell suggests for an argument. It never asks for a passphrase: if it would need one to log
// in, it suggests nothing.
func suggested(
	where *target.Target, ask func(ctx context.Context, account *dapi.Account) []string,
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
func payoutIDs(where *target.Target) cobra.CompletionFunc {
	return oneArgument(suggested(where, func(ctx context.Context, account *dapi.Account) (ids []string) {
		for _, entry := range newestPayouts(ctx, account) {
			ids = append(ids, fmt.Sprintf("%s\t%s %s %s", entry.PayoutID, entry.Amount, entry.Currency, entry.Status))
		}
		return ids
	}))
}

// contactIDs completes the id of a contact from the newest payouts: the platform API has no list of contacts.
func contactIDs(where *target.Target) cobra.CompletionFunc {
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
