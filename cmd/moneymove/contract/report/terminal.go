package report

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/plaintext"
)

// WriteText writes the report for a terminal: the counts, then the findings that somebody must look at. It counts open
// assumptions by file. The other formats list them.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	what := "Contract suite"
	if r.ReadOnly {
		what = "Reads"
	}
	fmt.Fprintf(&b, "%s against %s, %s\n\n", what, r.Host, r.Took.Round(10*time.Millisecond))
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	r.writeFlows(table)
	r.writeCounts(table)
	if err := table.Flush(); err != nil {
		return err
	}
	r.writeMissing(&b)
	if !r.ReadOnly {
		r.writeSkipped(&b, "Skipped, ")
	}
	for _, a := range r.Of(Contradicted) {
		fmt.Fprintf(&b, "\nCONTRADICTED  %s %s, %s\n  assumed: %s\n  line:    %s\n  edit:    %s\n",
			a.File, a.Where, a.What(), a.Reason, a.Position(), a.Edit())
		writeEvidence(&b, *a.Evidence)
	}
	for _, f := range r.Deviations {
		fmt.Fprintf(&b, "\nDEVIATES  from what the service's description states\n")
		writeEvidence(&b, f)
	}
	for _, f := range r.Undescribed {
		fmt.Fprintf(&b, "\nUNDESCRIBED  %s, %s: %s\n", describe(f), f.Field, f.Seen)
	}
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "\nINVALID  %s\n", v)
	}
	_, err := io.WriteString(plaintext.NewWriter(w), b.String()) // a host chooses the names of its fields
	return err
}

func (r *Report) writeFlows(w io.Writer) {
	type count struct{ passed, failed, embedded, skipped int }
	counts := map[string]*count{}
	var flows []string
	for _, c := range r.Cases {
		if counts[c.Flow] == nil {
			counts[c.Flow] = &count{}
			flows = append(flows, c.Flow)
		}
		switch {
		case c.Outcome == Passed:
			counts[c.Flow].passed++
		case c.Outcome == Failed:
			counts[c.Flow].failed++
		case c.Reason == NeedsEmbedded:
			counts[c.Flow].embedded++
		default:
			counts[c.Flow].skipped++
		}
	}
	head, last := "Flow\tpassed\tfailed\tskipped", ""
	if !r.ReadOnly {
		head, last = head+"\t"+NeedsEmbedded, "\t"
	}
	fmt.Fprintln(w, head)
	for _, flow := range flows {
		c := counts[flow]
		fmt.Fprintf(w, "%s\t%6d\t%6d\t%7d%s", flow, c.passed, c.failed, c.skipped, last)
		if !r.ReadOnly {
			fmt.Fprint(w, c.embedded)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\t\t\t%s\n", last)
}

func (r *Report) writeCounts(w io.Writer) {
	called, operations := r.Called()
	seen, slugs := r.Refused()
	fmt.Fprintf(w, "Operations\t%6d\tof %d called\n", called, operations)
	fmt.Fprintf(w, "Slugs\t%6d\tof %d seen\n", seen, slugs)
	fmt.Fprintf(w, "Assumptions\t%6d\tconfirmed, %d contradicted, %d open, of %d\n",
		r.Count(Confirmed), r.Count(Contradicted), r.Count(Open), len(r.Assumptions))
	fmt.Fprintf(w, "Deviations\t%6d\tfrom what is stated\n", len(r.Deviations)+len(r.Violations))
}

// writeMissing lists what a complete run would also have.
func (r *Report) writeMissing(b *strings.Builder) {
	if r.ReadOnly {
		r.writeUnread(b)
		return
	}
	var operations, slugs, controls []string
	for _, o := range r.Operations {
		if o.Accepted == 0 {
			operations = append(operations, o.Surface+" "+o.ID)
		}
	}
	for _, s := range r.Slugs {
		if s.Answers == 0 {
			slugs = append(slugs, s.Slug)
		}
		if s.Controls {
			controls = append(controls, s.Slug)
		}
	}
	writeList(b, "Not called", operations)
	writeList(b, "Not seen", slugs)
	writeList(b, "Seen from controls of the embedded host alone", controls)
}

// writeUnread lists what a run that only reads did not read, with the reason, and the slugs that it saw. Most slugs are
// refusals of writes.
func (r *Report) writeUnread(b *strings.Builder) {
	writes := 0
	for _, o := range r.Operations {
		if o.Accepted == 0 && o.Method != http.MethodGet {
			writes++
		}
	}
	fmt.Fprintf(b, "\nNot called, because they write: %d operations\n", writes)
	r.writeSkipped(b, "Not read, ")
	for _, c := range r.Cases {
		if c.Outcome == Failed {
			fmt.Fprintf(b, "\nFAILED  %s %s: %s\n", c.Flow, c.Name, c.Reason)
		}
	}
	var seen []string
	for _, s := range r.Slugs {
		if s.Answers > 0 {
			seen = append(seen, s.Slug)
		}
	}
	writeList(b, "Slugs seen", seen)
}

// writeSkipped lists the cases that were skipped, by the reason.
func (r *Report) writeSkipped(b *strings.Builder, what string) {
	skipped := map[string][]string{}
	for _, c := range r.Cases {
		if name := c.Flow + " " + c.Name; c.Outcome == Skipped && !slices.Contains(skipped[c.Reason], name) {
			skipped[c.Reason] = append(skipped[c.Reason], name)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		writeList(b, what+reason, skipped[reason])
	}
}

func writeList(b *strings.Builder, what string, names []string) {
	if len(names) > 0 {
		fmt.Fprintf(b, "\n%s: %s\n", what, strings.Join(names, ", "))
	}
}

func writeEvidence(b *strings.Builder, f Finding) {
	fmt.Fprintf(b, "  seen:    %s, %s: %s\n", describe(f), f.Field, f.Seen)
	if f.Answer != "" {
		fmt.Fprintf(b, "  answer:  %s\n", f.Answer)
	}
}

func describe(f Finding) string {
	if f.Status == 0 {
		return f.Operation
	}
	return fmt.Sprintf("%s %d", f.Operation, f.Status)
}
