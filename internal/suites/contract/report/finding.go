package report

import "github.com/moneymovement/moneymovement-go/internal/suites/contract/wire"

// Verdict is what an answer says about an assumption.
type Verdict string

// The verdicts. An assumption that any answer contradicts is contradicted, whatever others say.
const (
	Confirmed    Verdict = "confirmed"
	Contradicted Verdict = "contradicted"
	Open         Verdict = "open"
	// doubted is contradicted unless another answer confirms: another value was seen in the place of an assumed one.
	doubted Verdict = "doubted"
	// ambiguous stays open: the service may lack the operation, or only what was asked for.
	ambiguous Verdict = "ambiguous"
	// hinted stays open: something that nothing describes was seen beside an assumed field that was not.
	hinted Verdict = "hinted"
	// undescribed is beyond what is described, and contradicts nothing: the description shows most resources in part.
	undescribed Verdict = "undescribed"
)

// Finding is one piece of evidence. What it quotes is redacted.
type Finding struct {
	// Assumption is nil for what the description states: then the finding is a deviation.
	Assumption *wire.Assumption `json:"-"`
	Verdict    Verdict          `json:"-"`
	Operation  string           `json:"operation"`        // such as "dapi BookPayout"
	Status     int              `json:"status,omitempty"` // of the answer
	Field      string           `json:"field"`            // such as "answer quote.fee"
	Seen       string           `json:"seen"`             // what was there
	Answer     string           `json:"answer,omitempty"` // the whole answer, if it contradicts
	// how to edit the description so that it becomes true, if it contradicts
	Edit string `json:"-"`
}

// sighting is what was seen, and the edit of the description that would make it true.
type sighting struct{ what, edit string }

// side is the half of an exchange.
type side string

const (
	ofAnswer  side = "answer"
	ofRequest side = "request"
)

// level is a place of a description that a value was found at, below the places around it.
type level struct {
	layers []wire.Node
	parent *level
}

// walk compares one side of one exchange with its description.
type walk struct {
	x        *Exchange
	side     side
	found    *[]Finding
	failures int // so far
}

func (w *walk) note(a *wire.Assumption, v Verdict, field string, seen sighting) {
	name := string(w.side)
	if field != "" {
		name += " " + field
	}
	f := Finding{Assumption: a, Verdict: v, Operation: w.x.Name(), Status: w.x.Status, Field: name, Seen: seen.what}
	if v != Confirmed {
		f.Answer, f.Edit = Redacted(w.x.Answer), seen.edit
	}
	*w.found = append(*w.found, f)
}

// confirm notes every mark of a node that speaks of one of the aspects.
func (w *walk) confirm(node wire.Node, field, seen string, aspects ...string) {
	for _, mark := range node.Marks() {
		for _, aspect := range aspects {
			if mark.Aspect == aspect {
				w.note(mark, Confirmed, field, sighting{what: seen})
			}
		}
	}
}

// confirmDemand notes the marks that speak of a demand, at the layer that makes it and at those that lead there.
func (w *walk) confirmDemand(layers []wire.Node, a aspect, field, seen string) {
	for _, layer := range layers[:a.layer+1] {
		w.confirm(layer, field, seen, a.name)
	}
}

// contradict notes every mark of a node that one of the aspects names, and reports whether there is one.
func (w *walk) contradict(node wire.Node, field string, seen sighting, aspects ...string) (noted bool) {
	for _, mark := range node.Marks() {
		for _, aspect := range aspects {
			if mark.Aspect == aspect {
				w.note(mark, Contradicted, field, seen)
				noted = true
			}
		}
	}
	return noted
}

// unassumed blames the operation's assumed answer or body; if they are stated, it is a deviation from what is stated.
// An operation that assumes a shape says "answer", and one that assumes which of the resources it answers "resource".
func (w *walk) unassumed(field string, seen sighting) {
	aspects := []string{"answer", "resource"}
	if w.side == ofRequest {
		aspects = []string{"body"}
	}
	if w.x.Operation == nil || !w.contradict(w.x.Operation.Node, field, seen, aspects...) {
		w.note(nil, Contradicted, field, seen)
	}
}
