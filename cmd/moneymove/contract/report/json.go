package report

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/plaintext"
)

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
	File     string   `json:"file"`
	Where    string   `json:"where"`
	What     string   `json:"what"`
	Reason   string   `json:"reason"`
	Position string   `json:"position"`
	Verdict  Verdict  `json:"verdict"`
	Edit     string   `json:"edit,omitempty"`
	Answers  int      `json:"answers"`
	Evidence *Finding `json:"evidence,omitempty"`
	Why      string   `json:"why,omitempty"`
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
			Verdict: a.Verdict, Edit: a.Edit(), Answers: a.Answers, Evidence: a.Evidence, Why: a.Why,
		})
	}
	return j
}
