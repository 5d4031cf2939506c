package report

import (
	"encoding/json"
	"io"
	"time"
)

type jsonReport struct {
	Host        string           `json:"host"`
	Started     time.Time        `json:"started"`
	Seconds     float64          `json:"seconds"`
	Summary     jsonSummary      `json:"summary"`
	Cases       []jsonCase       `json:"cases"`
	Operations  []jsonOperation  `json:"operations"`
	Slugs       []jsonSlug       `json:"slugs"`
	Assumptions []jsonAssumption `json:"assumptions"`
	Deviations  []*jsonEvidence  `json:"deviations"`
	Undescribed []*jsonEvidence  `json:"undescribed"`
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

type jsonOperation struct {
	Surface  string `json:"surface"`
	ID       string `json:"operationId"`
	Method   string `json:"method"`
	Path     string `json:"path"`
	Calls    int    `json:"calls"`
	Accepted int    `json:"accepted"`
}

type jsonSlug struct {
	Slug      string `json:"slug"`
	Answers   int    `json:"answers"`
	Operation string `json:"operation,omitempty"`
	Controls  bool   `json:"controls,omitempty"`
}

type jsonAssumption struct {
	File     string        `json:"file"`
	Where    string        `json:"where"`
	What     string        `json:"what"`
	Reason   string        `json:"reason"`
	Position string        `json:"position"`
	Verdict  Verdict       `json:"verdict"`
	Edit     string        `json:"edit,omitempty"`
	Answers  int           `json:"answers"`
	Evidence *jsonEvidence `json:"evidence,omitempty"`
	Why      string        `json:"why,omitempty"`
}

type jsonEvidence struct {
	Operation string `json:"operation"`
	Status    int    `json:"status,omitempty"`
	Field     string `json:"field"`
	Seen      string `json:"seen"`
	Answer    string `json:"answer,omitempty"`
}

// WriteJSON writes all of the report.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r.json())
}

func (r *Report) json() jsonReport {
	j := jsonReport{
		Host: r.Host, Started: r.Started.UTC(), Seconds: r.Took.Seconds(),
		Cases: []jsonCase{}, Operations: []jsonOperation{}, Slugs: []jsonSlug{}, Assumptions: []jsonAssumption{}, Deviations: []*jsonEvidence{}, Undescribed: []*jsonEvidence{},
		Violations: append([]string{}, r.Violations...),
	}
	j.Summary.Operations.Seen, j.Summary.Operations.Of = r.Called()
	j.Summary.Slugs.Seen, j.Summary.Slugs.Of = r.Refused()
	j.Summary.Assumptions = len(r.Assumptions)
	j.Summary.Confirmed, j.Summary.Contradicted, j.Summary.Open = r.Count(Confirmed), r.Count(Contradicted), r.Count(Open)
	j.Summary.DeviationsOfStated = len(r.Deviations) + len(r.Violations)
	for _, c := range r.Cases {
		if c.Reason == NeedsEmbedded {
			j.Summary.NeedsEmbeddedHost++
		}
		j.Cases = append(j.Cases, jsonCase{c.Flow, c.Name, c.Outcome, c.Reason, c.Took.Seconds()})
	}
	for _, o := range r.Operations {
		j.Operations = append(j.Operations, jsonOperation(o))
	}
	for _, s := range r.Slugs {
		j.Slugs = append(j.Slugs, jsonSlug(s))
	}
	for _, a := range r.Assumptions {
		j.Assumptions = append(j.Assumptions, jsonAssumption{
			File: a.File, Where: a.Where, What: a.What(), Reason: a.Reason, Position: a.Position(),
			Verdict: a.Verdict, Edit: a.Edit(), Answers: a.Answers, Evidence: a.Evidence.json(), Why: a.Why,
		})
	}
	for i := range r.Deviations {
		j.Deviations = append(j.Deviations, r.Deviations[i].json())
	}
	for i := range r.Undescribed {
		j.Undescribed = append(j.Undescribed, r.Undescribed[i].json())
	}
	return j
}

func (f *Finding) json() *jsonEvidence {
	if f == nil {
		return nil
	}
	return &jsonEvidence{f.Operation, f.Status, f.Field, f.Seen, f.Answer}
}
