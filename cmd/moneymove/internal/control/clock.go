package control

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

type clock struct {
	Now time.Time `json:"now"`
}

func (c clock) table() app.Table {
	return app.Table{Rows: [][]string{{c.Now.Format(time.RFC3339Nano)}}}
}

func clockCommand(a *app.App) *cobra.Command {
	command := &cobra.Command{
		Use:   "clock",
		Short: "Show the host's time",
		Long: `Shows the host's time. All that lasts ends on this clock: sessions, quotes,
approvals, idempotency keys, rate windows and steps of progress.`,
	}
	target := NewTarget(a, command)
	command.RunE = func(c *cobra.Command, _ []string) error {
		return call(c.Context(), target, http.MethodGet, "/clock", nil, clock.table)
	}
	command.AddCommand(&cobra.Command{
		Use:     "advance DURATION",
		Short:   "Move the host's clock forward",
		Example: "  moneymove clock advance 61s\n  moneymove clock advance 60d",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := duration(args[0])
			if err != nil {
				return err
			}
			return call(c.Context(), target, http.MethodPost, "/clock", map[string]string{"advance": d.String()},
				clock.table)
		},
	})
	return command
}

// duration reads what Go reads, and days such as 60d: a session lasts sixty days.
func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		if n, err = strconv.Atoi(days); err == nil && n <= 100_000 {
			d = time.Duration(n) * 24 * time.Hour
		}
	}
	if err != nil || d <= 0 {
		return 0, app.Usagef("%q is no duration by which the clock moves forward; give one such as 61s, 90m or 60d",
			text)
	}
	return d, nil
}
