package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/plaintext"
	"github.com/moneymovement/moneymovement-go/dapi"
)

const txHelp = `Shows the ledger of the account, the newest entry first.

With -f it shows entries as they change, the oldest first, until it is interrupted (Ctrl-C): each new entry, and each
entry again that has another status. It begins with the entries of the last 24 hours, or of -since.

With -position it goes on where an earlier run ended: the file holds the position, and is written when entries were
shown. A new file begins with the whole ledger, or with -since. Without -f it shows what has changed, and ends. After a
crash, some entries can be shown again, and none is left out. Keep one file for each account.`

const txExamples = `  moneymove tx -as cl_123 -limit 100
  moneymove tx -f -since 1h
  moneymove tx -position ledger.position -o json >> ledger.jsonl`

// defaultSince is how far back -f begins.
const defaultSince = 24 * time.Hour

// ledger is the command tx.
type ledger struct {
	app      *app.App
	account  *dapi.Account
	limit    int
	kind     string
	since    string
	follow   bool
	position string
	every    time.Duration
}

// entry is an entry of the ledger that is new or has changed.
type entry struct {
	dapi.Transaction
	Previous   dapi.TransactionStatus `json:"previous,omitzero"`
	LastChange bool                   `json:"lastChange,omitzero"`
}

func txCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	l := ledger{app: a}
	command := &cobra.Command{
		Use: "tx", Short: "Show the ledger of the account", Long: txHelp, Example: txExamples,
		RunE: func(c *cobra.Command, _ []string) error {
			changes := l.follow || l.position != ""
			switch {
			case changes && c.Flags().Changed("limit"):
				return app.Usagef("-limit does not go with -f and -position, which show every change: leave it out")
			case l.limit < 1:
				return app.Usagef("-limit is %d: give 1 or more", l.limit)
			case !l.follow && c.Flags().Changed("every"):
				return app.Usagef("-every goes with -f: leave it out")
			}
			if err := checkWait(time.Hour, l.every); err != nil {
				return err
			}
			since, err := readSince(l.since, time.Now())
			if err != nil {
				return err
			}
			asJSON, err := a.JSON()
			if err != nil {
				return err
			}
			if l.account, err = where.Account(); err != nil {
				return err
			}
			if changes {
				return l.showChanges(c.Context(), since, asJSON)
			}
			return l.list(c.Context(), since)
		},
	}
	where.PlatformFlags(command.Flags())
	set := command.Flags()
	set.IntVarP(&l.limit, "limit", "n", 20, "show at most this `number` of entries")
	set.StringVar(&l.kind, "type", "", "only entries of this `type`, such as payout")
	set.StringVar(&l.since, "since", "", "only entries since this `time`: RFC 3339, or how long ago, such as 90m")
	set.BoolVarP(&l.follow, "follow", "f", false, "show entries as they come and change")
	set.StringVar(&l.position, "position", "", "`file` that keeps the position, with mode 0600")
	everyFlag(command, &l.every)
	_ = command.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(
		[]string{"deposit", "escrow", "payin", "payout", "refund"}, cobra.ShellCompDirectiveNoFileComp))
	return command
}

// readSince reads a time, or how long ago it was. The zero time means that none was given.
func readSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, app.Usagef("-since is %q: give a time such as 2026-01-31T12:00:00Z, or how long ago, "+
			"such as 90m", text)
	}
	return at, nil
}

// list shows the newest entries.
func (l *ledger) list(ctx context.Context, since time.Time) error {
	entries := []dapi.Transaction{}
	params := dapi.ListTransactionsParams{Limit: min(l.limit, 100), Type: dapi.TransactionType(l.kind), Since: since}
	for transaction, err := range l.account.Transactions.All(ctx, params) {
		if err != nil {
			return err
		}
		if entries = append(entries, transaction); len(entries) == l.limit {
			break
		}
	}
	return l.app.Print(items[dapi.Transaction]{entries}, func() app.Table {
		table := app.Table{Head: []string{"TIME", "TYPE", "STATUS", "AMOUNT", "ASSET", "OF", "ENTRY"}, Right: []int{3}}
		for _, t := range entries {
			table.Rows = append(table.Rows, cells(t))
		}
		return table
	})
}

// cells shows an entry to people.
func cells(t dapi.Transaction) []string {
	amount := t.Amount.String()
	switch t.Direction {
	case dapi.TransactionDirectionIn:
		amount = "+" + amount
	case dapi.TransactionDirectionOut:
		amount = "-" + amount
	default:
		amount = string(t.Direction) + " " + amount
	}
	of := strings.TrimSpace(strings.Join([]string{string(t.PayoutID), string(t.PayinID), string(t.EscrowID)}, " "))
	return []string{t.CreatedAt.UTC().Format(time.RFC3339), string(t.Type), string(t.Status), amount,
		string(t.Currency), of, string(t.ID)}
}

// showChanges shows what has changed since the position, and with -f also what changes from now on.
func (l *ledger) showChanges(ctx context.Context, since time.Time, asJSON bool) error {
	keeper, err := openPosition(l.position)
	if err != nil {
		return err
	}
	start := keeper.position
	if !keeper.hasPosition && (!since.IsZero() || l.follow && l.position == "") {
		if since.IsZero() {
			since = time.Now().Add(-defaultSince)
		}
		start = dapi.LedgerPositionAt(since)
	}
	err = l.each(l.changes(ctx, start, keeper), keeper, asJSON)
	saved := keeper.save()
	if err == nil || l.follow && ctx.Err() != nil { // -f ends when it is interrupted
		return saved
	}
	return err
}

func (l *ledger) changes(
	ctx context.Context, start dapi.LedgerPosition, keeper *positionKeeper,
) iter.Seq2[dapi.TransactionChange, error] {
	params := dapi.ChangesParams{Position: start}
	if !l.follow {
		return l.account.Transactions.Changes(ctx, params)
	}
	// before each read, what the one before has found was shown
	options := append(polling(l.every), moneymovement.OnProgress(func(moneymovement.Progress) { keeper.saveLater() }))
	return l.account.Transactions.Follow(ctx, params, options...)
}

// each shows the changes one by one.
func (l *ledger) each(
	changes iter.Seq2[dapi.TransactionChange, error], keeper *positionKeeper, asJSON bool,
) error {
	for change, err := range changes {
		if err != nil {
			return err
		}
		if l.kind == "" || string(change.Transaction.Type) == l.kind {
			if err := l.show(entry{change.Transaction, change.Previous, change.LastChange}, asJSON); err != nil {
				return err
			}
		}
		if err := keeper.note(change.Position); err != nil {
			return err
		}
	}
	return nil
}

func (l *ledger) show(e entry, asJSON bool) error {
	if asJSON {
		return l.app.PrintJSON(e)
	}
	row := cells(e.Transaction)
	if e.Previous != "" {
		row[2] = string(e.Previous) + " > " + row[2]
	}
	if e.LastChange {
		row = append(row, "(later changes are not shown)")
	}
	line := fmt.Sprintf("%s  %-8s  %-20s  %12s %s  %s", row[0], row[1], row[2], row[3], row[4],
		strings.Join(row[5:], "  "))
	_, err := fmt.Fprintln(l.app.Out, plaintext.Line(line))
	return err
}

// positionKeeper keeps the position of a ledger in a file. Without a file it keeps nothing.
type positionKeeper struct {
	path        string
	position    dapi.LedgerPosition
	hasPosition bool  // the file had a position
	unsaved     int   // changes since the last save
	failed      error // of a save that nobody could be told of
}

// saveEvery is how many changes of one read of the ledger are shown before the position is saved. A save takes a few
// milliseconds, and after a crash so many changes are shown again at most.
const saveEvery = 100

func openPosition(path string) (*positionKeeper, error) {
	k := &positionKeeper{path: path}
	if path == "" {
		return k, nil
	}
	text, err := os.ReadFile(path) //gosec:disable G304 -- the user of the command names the file
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, fmt.Errorf("-position: %w", err)
	}
	if err := json.Unmarshal(text, &k.position); err != nil {
		return nil, app.Usagef("-position: %s does not hold a position of a ledger: name another file, or remove "+
			"it: %w", path, err)
	}
	k.hasPosition = true
	return k, nil
}

// note takes the position after a change that was shown.
func (k *positionKeeper) note(position dapi.LedgerPosition) error {
	k.position = position
	if k.unsaved++; k.unsaved >= saveEvery {
		return k.save()
	}
	return k.failed
}

// saveLater saves, and note or save returns the error.
func (k *positionKeeper) saveLater() { k.failed = k.save() }

func (k *positionKeeper) save() error {
	if k.path == "" || k.unsaved == 0 {
		return k.failed
	}
	text, err := json.Marshal(k.position)
	if err != nil {
		return err
	}
	if err := app.ReplaceFile(k.path, append(text, '\n')); err != nil {
		return fmt.Errorf("the position is not kept: %w", err)
	}
	k.unsaved, k.failed = 0, nil
	return nil
}
