package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/plaintext"
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
		if s.Responses == 0 {
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
		if s.Responses > 0 {
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
	if f.Response != "" {
		fmt.Fprintf(b, "  answer:  %s\n", f.Response)
	}
}

func describe(f Finding) string {
	if f.Status == 0 {
		return f.Operation
	}
	return fmt.Sprintf("%s %d", f.Operation, f.Status)
}

type jsonReport struct {
	Host        string           `json:"host"`
	ReadOnly    bool             `json:"readOnly,omitempty"`
	Started     time.Time        `json:"started"`
	Seconds     float64          `json:"seconds"`
	Summary     jsonSummary      `json:"summary"`
	Cases       []jsonCase       `json:"cases"`
	Operations  []OperationSeen  `json:"operations"`
	Slugs       []SlugSeen       `json:"slugs"`
	Assumptions []jsonAssumption `json:"assumptions"`
	Deviations  []Finding        `json:"deviations"`
	Undescribed []Finding        `json:"undescribed"`
	Violations  []string         `json:"violations"`
}

type jsonSummary struct {
	Operations         jsonShare `json:"operations"`
	Slugs              jsonShare `json:"slugs"`
	Assumptions        int       `json:"assumptions"`
	Confirmed          int       `json:"confirmed"`
	Contradicted       int       `json:"contradicted"`
	Open               int       `json:"open"`
	NeedsEmbeddedHost  int       `json:"needsEmbeddedHost"`
	DeviationsOfStated int       `json:"deviations"`
}

type jsonShare struct {
	Seen int `json:"seen"`
	Of   int `json:"of"`
}

type jsonCase struct {
	Flow    string  `json:"flow"`
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"`
	Seconds float64 `json:"seconds"`
}

type jsonAssumption struct {
	File      string   `json:"file"`
	Where     string   `json:"where"`
	What      string   `json:"what"`
	Reason    string   `json:"reason"`
	Position  string   `json:"position"`
	Verdict   Verdict  `json:"verdict"`
	Edit      string   `json:"edit,omitempty"`
	Responses int      `json:"answers"`
	Evidence  *Finding `json:"evidence,omitempty"`
	Why       string   `json:"why,omitempty"`
}

// WriteJSON writes the whole report.
func (r *Report) WriteJSON(w io.Writer) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r.json()); err != nil {
		return err
	}
	_, err := w.Write(plaintext.JSON(text.Bytes()))
	return err
}

func (r *Report) json() jsonReport {
	j := jsonReport{
		Host: r.Host, ReadOnly: r.ReadOnly, Started: r.Started.UTC(), Seconds: r.Took.Seconds(),
		Cases: []jsonCase{}, Operations: r.Operations, Slugs: r.Slugs, Assumptions: []jsonAssumption{},
		Deviations: append([]Finding{}, r.Deviations...), Undescribed: append([]Finding{}, r.Undescribed...),
		Violations: append([]string{}, r.Violations...),
	}
	j.Summary.Operations.Seen, j.Summary.Operations.Of = r.Called()
	j.Summary.Slugs.Seen, j.Summary.Slugs.Of = r.Refused()
	j.Summary.Assumptions = len(r.Assumptions)
	j.Summary.Confirmed, j.Summary.Contradicted = r.Count(Confirmed), r.Count(Contradicted)
	j.Summary.Open = r.Count(Open)
	j.Summary.DeviationsOfStated = len(r.Deviations) + len(r.Violations)
	for _, c := range r.Cases {
		if c.Reason == NeedsEmbedded {
			j.Summary.NeedsEmbeddedHost++
		}
		j.Cases = append(j.Cases, jsonCase{c.Flow, c.Name, c.Outcome, c.Reason, c.Took.Seconds()})
	}
	for _, a := range r.Assumptions {
		j.Assumptions = append(j.Assumptions, jsonAssumption{
			File: a.File, Where: a.Where, What: a.What(), Reason: a.Reason, Position: a.Position(),
			Verdict: a.Verdict, Edit: a.Edit(), Responses: a.Responses, Evidence: a.Evidence, Why: a.Why,
		})
	}
	return j
}

// Redacted returns the shape of a response: names and types. Of the values it shows only those that name a refusal. No
// other value is ever shown, because a response that contradicts the description can hold anything anywhere.
func Redacted(value any) string {
	var b strings.Builder
	writeShape(&b, "", value)
	return b.String()
}

// entriesShown limits how many entries of a list are written.
const entriesShown = 3

func writeShape(b *strings.Builder, name string, value any) {
	switch v := value.(type) {
	case map[string]any:
		b.WriteString("{")
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(b, "%q: ", key)
			writeShape(b, key, v[key])
		}
		b.WriteString("}")
	case []any:
		b.WriteString("[")
		for i, entry := range v[:min(len(v), entriesShown)] {
			if i > 0 {
				b.WriteString(", ")
			}
			writeShape(b, "", entry)
		}
		if more := len(v) - entriesShown; more > 0 {
			fmt.Fprintf(b, ", %d more", more)
		}
		b.WriteString("]")
	case string:
		if (name == "code" || name == "field") && isWord(v) {
			fmt.Fprintf(b, "%q", v)
			return
		}
		b.WriteString(kind(v))
	default:
		b.WriteString(kind(v))
	}
}

func isWord(v string) bool {
	return v != "" && len(v) <= 64 && strings.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.[]") == ""
}

// kind returns the kind of a value, and nothing of its content.
func kind(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("text of %d characters", utf8.RuneCountInString(v))
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	case map[string]any:
		return "object"
	case []any:
		return fmt.Sprintf("list of %d", len(v))
	}
	return "unknown"
}

// sample shows a value that fits its description: a value of an enumeration, a whole number within a bound, or the form
// of any other value.
func sample(layers []wire.Node, value any) string {
	v, isText := value.(string)
	for _, layer := range layers {
		switch format := layer.At("format").Text(); {
		case !isText:
		case slices.Contains(layer.At("enum").Texts(), v):
			return fmt.Sprintf("%q", v)
		case layer.At("x-id-prefix").Text() != "" && strings.HasPrefix(v, layer.At("x-id-prefix").Text()):
			return fmt.Sprintf("%q and %d more characters", layer.At("x-id-prefix").Text(),
				len(v)-len(layer.At("x-id-prefix").Text()))
		case format != "":
			return fmt.Sprintf("%s of %d characters", format, utf8.RuneCountInString(v))
		}
	}
	return kind(value)
}
