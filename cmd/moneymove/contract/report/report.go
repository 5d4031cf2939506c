// Package report records the responses of a host, and says what they show: which operations were called, which slugs
// were seen, and which assumptions of the description the responses confirm or contradict.
//
// An [Observer] stands between the SDK and the host, and keeps every exchange in a [Log]. [Judge] compares the
// exchanges with the description and returns a [Report], which can be written for a terminal and as JSON.
//
// The report holds slugs, names of fields and values of enumerations, and no other value that a host sent: responses
// hold credentials, card numbers and names of people.
package report

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Report is the result of a run.
type Report struct {
	Host string // where it ran
	// ReadOnly is set for a run that called only operations that read.
	ReadOnly    bool
	Started     time.Time
	Took        time.Duration
	Cases       []Case
	Operations  []OperationSeen
	Slugs       []SlugSeen
	Assumptions []AssumptionSeen
	// Deviations contradict facts that the service's own description states.
	Deviations []Finding
	// Undescribed are fields without a description. They contradict nothing.
	Undescribed []Finding
	// Violations are responses that openapi3filter refuses, each once.
	Violations []string
}

// Outcome says how a case ended.
type Outcome string

// The outcomes of a case.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
)

// NeedsEmbedded is the reason why a real host skips a case: the case moves the host's clock or changes its settings.
const NeedsEmbedded = "needs the embedded host"

// Case is one test of a flow.
type Case struct {
	Flow    string
	Name    string
	Outcome Outcome
	Reason  string // why it was skipped
	Took    time.Duration
}

// OperationSeen is an operation and how often it was called.
type OperationSeen struct {
	Surface  string `json:"surface"`
	ID       string `json:"operationId"`
	Method   string `json:"method"`
	Path     string `json:"path"`
	Calls    int    `json:"calls"`
	Accepted int    `json:"accepted"`
}

// SlugSeen is a slug of the catalogue and how often it was sent.
type SlugSeen struct {
	Slug      string `json:"slug"`
	Responses int    `json:"answers"`
	Operation string `json:"operation,omitempty"` // the first that sent it
	Controls  bool   `json:"controls,omitempty"`  // only the embedded host sent it, scripted or from its own controls
}

// AssumptionSeen is an assumption and what the responses show about it.
type AssumptionSeen struct {
	*wire.Assumption
	Verdict   Verdict
	Evidence  *Finding // nil while open
	Responses int      // how many responses show something about it
	Why       string   // why it is open
}

// Claim is a finding that a test makes itself, about an assumption that no single response shows.
type Claim struct {
	File, Where, Aspect string // as in openapi/README.md; Aspect is the key in the file
	Confirmed           bool
	Operation, Seen     string
}

// Judge returns what the exchanges and the claims show.
func Judge(description *wire.Description, validator *Validator, exchanges []*Exchange, claims ...Claim) *Report {
	var findings []Finding
	r := &Report{}
	for _, x := range exchanges {
		if x.Operation == nil || x.Scripted || x.Status == 0 {
			continue
		}
		judgeResponse(x, &findings)
		judgeRequest(x, &findings)
		for _, violation := range validator.Violations(x) {
			r.Violations = append(r.Violations, x.Name()+": "+violation)
		}
	}
	judgeRepeats(exchanges, &findings)
	for _, claim := range slices.Concat(claims, observed(exchanges)) {
		findings = append(findings, claim.finding(description))
	}
	slices.Sort(r.Violations)
	r.Violations = slices.Compact(r.Violations)
	r.Operations = operationsSeen(description, exchanges)
	r.Slugs = slugsSeen(exchanges)
	r.weigh(description, findings)
	return r
}

func (c Claim) finding(description *wire.Description) Finding {
	f := Finding{Verdict: Contradicted, Operation: c.Operation, Field: "answer", Seen: c.Seen}
	if c.Confirmed {
		f.Verdict = Confirmed
	}
	for _, a := range description.Assumptions {
		if a.File == c.File && a.Where == c.Where && a.Aspect == c.Aspect {
			f.Assumption = a
			return f
		}
	}
	f.Verdict, f.Seen = Contradicted, "claims about "+c.Where+", which is not an assumption: "+c.Seen
	return f
}

// weigh collects the findings of each assumption, and reports each other finding once.
func (r *Report) weigh(description *wire.Description, findings []Finding) {
	byAssumption := map[*wire.Assumption][]Finding{}
	told := map[[3]string]bool{}
	for _, f := range findings {
		key := [3]string{f.Operation, f.Field, f.Seen}
		switch {
		case f.Assumption != nil:
			byAssumption[f.Assumption] = append(byAssumption[f.Assumption], f)
		case told[key]:
		case f.Verdict == undescribed:
			r.Undescribed = append(r.Undescribed, f)
		default:
			r.Deviations = append(r.Deviations, f)
		}
		told[key] = told[key] || f.Assumption == nil
	}
	for _, a := range description.Assumptions {
		r.Assumptions = append(r.Assumptions, weighOne(a, byAssumption[a]))
	}
}

// weighOne lets one response that contradicts outweigh any number that confirm.
func weighOne(a *wire.Assumption, findings []Finding) AssumptionSeen {
	result := AssumptionSeen{Assumption: a, Verdict: Open, Responses: len(findings), Why: whyOpen(a)}
	for _, order := range []struct{ finding, verdict Verdict }{{Contradicted, Contradicted}, {Confirmed, Confirmed},
		{contradictedUnlessConfirmed, Contradicted}, {ambiguous, Open}, {openWithHint, Open}} {
		i := slices.IndexFunc(findings, func(f Finding) bool { return f.Verdict == order.finding })
		if i < 0 {
			continue
		}
		result.Verdict, result.Evidence = order.verdict, &findings[i]
		switch order.finding {
		case ambiguous:
			result.Why = "answered not_found: either it is not there, or what was asked for is not"
		case openWithHint:
			result.Why = "never seen, but beside it a field that nothing describes: " + findings[i].Field
		default:
			result.Why = ""
		}
		return result
	}
	return result
}

func whyOpen(a *wire.Assumption) string {
	switch {
	case a.File == "errors.yaml":
		return "what a caller concludes from a refusal; no answer says it"
	case a.File == "coverage.yaml", a.Aspect == "unit", a.Aspect == "purpose":
		return "what a value means; no answer says it"
	case a.Aspect == "idempotency":
		return "no repeat made another one; it may still be possible"
	default:
		return "never seen"
	}
}

func operationsSeen(description *wire.Description, exchanges []*Exchange) []OperationSeen {
	seen := make([]OperationSeen, len(description.Operations))
	index := map[*wire.Operation]int{}
	for i, o := range description.Operations {
		seen[i] = OperationSeen{Surface: strings.TrimSuffix(o.Surface, ".yaml"), ID: o.ID, Method: o.Method,
			Path: o.Template}
		index[o] = i
	}
	for _, x := range exchanges {
		i, described := index[x.Operation]
		if !described {
			continue
		}
		seen[i].Calls++
		if x.Accepted() {
			seen[i].Accepted++
		}
	}
	return seen
}

func slugsSeen(exchanges []*Exchange) []SlugSeen {
	bySlug := map[string]*SlugSeen{}
	var order []*SlugSeen
	for _, code := range errors.Codes() {
		seen := &SlugSeen{Slug: string(code)}
		bySlug[seen.Slug] = seen
		order = append(order, seen)
	}
	for _, x := range exchanges {
		if seen, known := bySlug[x.Slug]; known {
			control := x.Scripted || strings.HasPrefix(x.Path, "/_host/")
			seen.Controls = control && (seen.Controls || seen.Responses == 0)
			seen.Operation = cmp.Or(seen.Operation, x.Name())
			seen.Responses++
		}
	}
	slices.SortFunc(order, func(a, b *SlugSeen) int { return cmp.Compare(a.Slug, b.Slug) })
	all := make([]SlugSeen, len(order))
	for i, seen := range order {
		all[i] = *seen
	}
	return all
}

// Called counts the operations that were called with success, and all operations.
func (r *Report) Called() (called, of int) {
	for _, o := range r.Operations {
		if o.Accepted > 0 {
			called++
		}
	}
	return called, len(r.Operations)
}

// Refused counts the slugs that were seen, and all slugs.
func (r *Report) Refused() (seen, of int) {
	for _, s := range r.Slugs {
		if s.Responses > 0 {
			seen++
		}
	}
	return seen, len(r.Slugs)
}

// Count counts the assumptions with a verdict.
func (r *Report) Count(v Verdict) (count int) {
	for _, a := range r.Assumptions {
		if a.Verdict == v {
			count++
		}
	}
	return count
}

// Of returns the assumptions with a verdict.
func (r *Report) Of(v Verdict) []AssumptionSeen {
	return slices.DeleteFunc(slices.Clone(r.Assumptions), func(a AssumptionSeen) bool { return a.Verdict != v })
}

// WriteFiles writes both forms of the report into a folder, which it makes: summary.txt for people, report.json for
// programs.
func (r *Report) WriteFiles(folder string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	return errors.Join(writeFile(filepath.Join(folder, "summary.txt"), r.WriteText),
		writeFile(filepath.Join(folder, "report.json"), r.WriteJSON))
}

func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// observed returns claims about assumptions that one value of a response does not show, but several together do.
func observed(exchanges []*Exchange) (claims []Claim) {
	for _, x := range exchanges {
		if x.Scripted || !x.Accepted() {
			continue
		}
		switch x.Name() {
		case "dapi ListChains":
			claims = append(claims, chainOfBase(x)...)
		case "dapi ListTransactions":
			claims = append(claims, newestFirst(x)...)
		}
	}
	return claims
}

// base is the id of the chain that accounts settle on.
const base = json.Number("8453")

func chainOfBase(x *Exchange) (claims []Claim) {
	for _, chain := range entries(x) {
		code := text(chain, "code")
		if member(chain, "chainId") != base || code == "" {
			continue
		}
		claim := Claim{File: "coverage.yaml", Where: "onChain", Aspect: "chain", Confirmed: code == "base",
			Operation: x.Name(), Seen: "the chain of id 8453 has the code base"}
		if !claim.Confirmed {
			claim.Seen = "the chain of id 8453 has another code"
		}
		claims = append(claims, claim)
	}
	return claims
}

// newestFirst claims something only if the entries have different times: else any order looks alike.
func newestFirst(x *Exchange) []Claim {
	var times []time.Time
	for _, entry := range entries(x) {
		at, err := time.Parse(time.RFC3339, text(entry, "createdAt"))
		if err != nil {
			return nil
		}
		times = append(times, at)
	}
	if len(times) < 2 || times[0].Equal(times[len(times)-1]) {
		return nil
	}
	claim := Claim{File: "dapi.yaml", Where: "ListTransactions", Aspect: "order", Confirmed: true, Operation: x.Name(),
		Seen: "no entry is newer than the one before it"}
	for i, at := range times[1:] {
		if at.After(times[i]) {
			claim.Confirmed, claim.Seen = false, "an entry is newer than the one before it"
		}
	}
	return []Claim{claim}
}

func entries(x *Exchange) []any {
	items, _ := member(x.Response, "items").([]any)
	return items
}
