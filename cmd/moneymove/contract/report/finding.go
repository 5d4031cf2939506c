package report

import "github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"

// Verdict is what responses show about an assumption.
type Verdict string

// The verdicts. If any response contradicts an assumption, it is contradicted, whatever others show.
const (
	Confirmed    Verdict = "confirmed"
	Contradicted Verdict = "contradicted"
	Open         Verdict = "open"
	// doubted means contradicted unless another response confirms: another value was seen in place of an assumed one.
	doubted Verdict = "doubted"
	// ambiguous stays open: the service may lack the operation, or only the resource.
	ambiguous Verdict = "ambiguous"
	// hinted stays open: an undescribed field was seen, and an assumed field beside it was missing.
	hinted Verdict = "hinted"
	// undescribed contradicts nothing: the description shows most resources in part.
	undescribed Verdict = "undescribed"
)

// Finding is one piece of evidence. Its quotes are redacted.
type Finding struct {
	// Assumption is nil for a stated fact: then the finding is a deviation.
	Assumption *wire.Assumption `json:"-"`
	Verdict    Verdict          `json:"-"`
	Operation  string           `json:"operation"`        // such as "dapi BookPayout"
	Status     int              `json:"status,omitempty"` // of the response
	Field      string           `json:"field"`            // such as "answer quote.fee"
	Seen       string           `json:"seen"`             // what the response had
	Answer     string           `json:"answer,omitempty"` // the whole response, if it contradicts
	// the edit that makes the description true, if the response contradicts it
	Edit string `json:"-"`
}

// sighting is what was seen, and the edit that makes the description true.
type sighting struct{ what, edit string }

// side is request or response.
type side string

const (
	ofAnswer  side = "answer"
	ofRequest side = "request"
)

// level is the place of a description for a value, within the places around it.
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

// confirm notes every mark of a node that covers one of the aspects.
func (w *walk) confirm(node wire.Node, field, seen string, aspects ...string) {
	for _, mark := range node.Marks() {
		for _, aspect := range aspects {
			if mark.Aspect == aspect {
				w.note(mark, Confirmed, field, sighting{what: seen})
			}
		}
	}
}

// confirmDemand notes the marks that cover a demand, at its own layer and at the layers that lead there.
func (w *walk) confirmDemand(layers []wire.Node, a aspect, field, seen string) {
	for _, layer := range layers[:a.layer+1] {
		w.confirm(layer, field, seen, a.name)
	}
}

// contradict notes every mark of a node that covers one of the aspects, and reports whether there is such a mark.
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

// unassumed contradicts the operation's assumed response or body. If these are stated, it notes a deviation from a
// stated fact. The mark "answer" of an operation assumes the shape of its response. The mark "resource" assumes which
// resource it returns.
func (w *walk) unassumed(field string, seen sighting) {
	aspects := []string{"answer", "resource"}
	if w.side == ofRequest {
		aspects = []string{"body"}
	}
	if w.x.Operation == nil || !w.contradict(w.x.Operation.Node, field, seen, aspects...) {
		w.note(nil, Contradicted, field, seen)
	}
}
