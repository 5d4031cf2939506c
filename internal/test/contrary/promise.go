package contrary

import (
	"net/http"
	"slices"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// Outcome says how a call ends if its response differs in one thing.
type Outcome string

// The outcomes.
const (
	// Passes is success. The rest of the response is read.
	Passes Outcome = "success"
	// MayFail is success, or an error that names its operation.
	MayFail Outcome = "success or a typed error"
	// Fails is such an error: *errors.UnexpectedResponse for a read, *errors.InDoubt for a write.
	Fails Outcome = "a typed error"
)

// Promise is what the SDK promises for a change of an answer.
type Promise struct {
	Outcome Outcome
	// Named says that Response.Unread must name the place, unless the value was read. Unnamed says that it must not: an
	// optional member may be missing. If both are false, either is fine.
	Named, Unnamed bool
	// Assumed says that Unread must report the place as assumed. If it is false, either is fine.
	Assumed bool
	Why     string // why the call may fail
}

// Promised returns what the SDK promises for a change, for a call of the operation alone.
func Promised(c Change) Promise {
	p := Promise{Outcome: Passes}
	if c.Site.In == "header" {
		return p
	}
	p.Assumed = !c.Site.Stated && c.Site.In == "body" && c.Mark.Aspect == ""
	effect := EffectOf(c.Kind)
	switch effect {
	case Missing:
		allowed := !c.Site.Required || c.Kind == Null && mayBeNull(c.Site.Layers)
		demanded := c.Mark.Aspect != "required" && c.Mark.Aspect != "discriminator" // not only by the mark itself
		p.Named = demanded && !allowed && (c.Kind != Null || !itemsOf(c.Site.Layers).Exists())
		p.Unnamed = demanded && allowed
	case Unread:
		p.Named = true
	case Whole:
		p.Outcome, p.Why = wholePromise(c)
		return p
	default:
		if c.Site.Proof && c.Kind == Looser && c.Mark.Aspect == "minLength" {
			p.Outcome, p.Why = MayFail, proof
		}
		return p
	}
	switch {
	case c.Kind == Null && itemsOf(c.Site.Layers).Exists(): // an empty list
	case IsPageList(c.Site):
		p.Outcome, p.Why = Fails, noList
		if c.Site.Operation.Method != http.MethodGet {
			p.Outcome = MayFail // the operation was carried out
		}
	case c.Site.Proof && !slices.Contains(c.Site.Path, Each) && !assumes(c.Site.Operation, "resource"):
		p.Outcome, p.Why = Fails, proof
		if len(c.Site.Path) > 1 || c.Kind == AsNumber {
			p.Outcome = MayFail // the object around it may be optional, and a number can be read as a text
		}
	}
	return p
}

// StatedInstead says which stated fact counts if an assumed member is missing.
var StatedInstead = map[string]string{
	"dapi.yaml Approval.expiresAt": "the stated window counts from the arrival of the approval",
}

const (
	noList = "a missing list must not look like an empty one"
	proof  = "it proves that the write was carried out"
)

// wholePromise is for a response without the resource, or with another status.
func wholePromise(c Change) (outcome Outcome, why string) {
	o := c.Site.Operation
	layers := AnswerLayers(o)
	read := o.Method == http.MethodGet
	switch {
	case c.Kind == OtherMedia:
		return MayFail, "a response with another content type does not count as the service's"
	case c.Kind == Status200, c.Kind == Status201, c.Kind == Status202:
		return Passes, ""
	case o.ID == "CreateDeposit": // a payin and a payout can be read instead
		return Fails, "only the transaction proves a credit"
	case assumes(o, "resource"), len(layers) == 0:
		return Passes, ""
	case read && IsPage(layers):
		return Fails, noList
	case read && c.Kind != OnlyOK:
		return Fails, "nothing was read"
	case hasProof(layers):
		return Fails, proof
	case IsPage(layers):
		return MayFail, proof
	}
	return Passes, ""
}

func assumes(o *wire.Operation, aspect string) bool {
	return slices.ContainsFunc(o.Node.Marks(), func(mark *wire.Assumption) bool { return mark.Aspect == aspect })
}

func mayBeNull(layers []wire.Node) bool {
	return slices.ContainsFunc(layers, func(layer wire.Node) bool { return layer.At("nullable").True() })
}

func hasProof(layers []wire.Node) bool {
	for _, layer := range layers {
		for _, property := range layer.At("properties").Members() {
			if proves(property.Layers()) {
				return true
			}
		}
	}
	return false
}
