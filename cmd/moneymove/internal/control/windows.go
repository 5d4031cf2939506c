package control

import (
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// windows are the rate windows of the service, and how full they are.
type windows struct {
	On    bool `json:"on"` // whether the host counts requests
	Items []struct {
		Window   string    `json:"window"`
		Key      string    `json:"key"`
		Count    int       `json:"count"`
		Limit    int       `json:"limit"`
		ClosesAt time.Time `json:"closesAt"`
	} `json:"items"`
}

func (w windows) table() app.Table {
	if !w.On {
		const off = "The host counts no requests. This turns it on: moneymove settings set rateLimits=true"
		return app.Table{Rows: [][]string{{off}}}
	}
	table := app.Table{Head: []string{"WINDOW", "OF", "COUNT", "LIMIT", "CLOSES"}, Right: []int{2, 3}}
	for _, item := range w.Items {
		table.Rows = append(table.Rows, []string{item.Window, item.Key, strconv.Itoa(item.Count),
			strconv.Itoa(item.Limit), item.ClosesAt.UTC().Format(time.RFC3339)})
	}
	return table
}

func windowsCommand(a *app.App) *cobra.Command {
	command := &cobra.Command{Use: "windows", Short: "Show how full the rate windows are"}
	target := NewTarget(a, command)
	command.RunE = func(c *cobra.Command, _ []string) error {
		return call(c.Context(), target, http.MethodGet, "/windows", nil, windows.table)
	}
	return command
}
