package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/moneymovement/moneymovement-go/bench/internal/measure"
)

// Compare prints each row beside the same row of an earlier run, and returns the ids of the rows that are worse. A row
// is worse if its ratio of wall time or of CPU time is higher, and the intervals do not overlap. A row that only one of
// the runs has is not worse: it is new or gone. Of the earlier run, only the chosen rows count.
func Compare(out io.Writer, now, before Release, chosen func(id string) bool) (worse []string) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "row\twall now\tbefore\tCPU now\tbefore\tallocations\t")
	for _, row := range now.Rows {
		old, known := before.row(row.ID)
		verdict := ""
		switch {
		case !known:
			verdict = "new"
		case row.Wall.Above(old.Wall) || row.CPU.Above(old.CPU):
			verdict = "WORSE"
			worse = append(worse, row.ID)
		case old.Wall.Above(row.Wall) || old.CPU.Above(row.CPU):
			verdict = "better"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%.0f of %.0f\t%s\n", row.ID, interval(row.Wall), interval(old.Wall),
			interval(row.CPU), interval(old.CPU), row.First.Allocs, row.Other.Allocs, verdict)
	}
	for _, old := range before.Rows {
		if _, measured := now.row(old.ID); !measured && chosen(old.ID) {
			fmt.Fprintf(table, "%s\t\t%s\t\t%s\t\tgone\n", old.ID, interval(old.Wall), interval(old.CPU))
		}
	}
	_ = table.Flush()
	return worse
}

// interval prints an estimate with its interval, "" for none.
func interval(e measure.Estimate) string {
	if e == (measure.Estimate{}) {
		return ""
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", e.Median, e.Low, e.High)
}
