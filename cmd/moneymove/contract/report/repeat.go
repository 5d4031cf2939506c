package report

import (
	"bytes"
	"net/http"
)

// judgeRepeats compares requests that were sent twice, for operations whose repetition is assumed to be harmless or
// harmful.
func judgeRepeats(exchanges []*Exchange, found *[]Finding) {
	for i, second := range exchanges {
		if !hasMark(second, "idempotency") || second.Scripted || !second.answered() {
			continue
		}
		for _, first := range exchanges[:i] {
			if first.Operation == second.Operation && !first.Scripted && first.Accepted() && first.sameAs(second) {
				judgeRepeat(first, second, found)
				break
			}
		}
	}
}

func hasMark(x *Exchange, aspect string) bool {
	if x.Operation == nil {
		return false
	}
	for _, mark := range x.Operation.Node.Marks() {
		if mark.Aspect == aspect {
			return true
		}
	}
	return false
}

// answered reports a response that shows how the repeat was handled: a success, or that there is nothing left to do.
func (x *Exchange) answered() bool {
	return x.Accepted() || x.Status == http.StatusNotFound || x.Status == http.StatusConflict ||
		x.Status == http.StatusGone
}

func (x *Exchange) sameAs(other *Exchange) bool {
	return x.request.URL.Host == other.request.URL.Host && x.Path == other.Path &&
		x.request.URL.RawQuery == other.request.URL.RawQuery && bytes.Equal(x.body, other.body) &&
		x.ActsFor() == other.ActsFor()
}

// judgeRepeat contradicts only if a repeat did harm. A harmless repeat does not show that all repeats are harmless.
func judgeRepeat(first, second *Exchange, found *[]Finding) {
	w := &walk{x: second, side: ofAnswer, found: found}
	operation := second.Operation.Node
	another := second.Accepted() && madeIDs(first.Answer) != madeIDs(second.Answer)
	harmless := operation.At("x-idempotency").Text() != "none"
	switch {
	case harmless && another && makesPrice(second):
		w.confirm(operation, "quoteId", "a repeat priced anew", "idempotency")
	case harmless && another:
		w.contradict(operation, "id", sighting{"a repeat made another one", "`x-idempotency: none`"}, "idempotency")
	case harmless:
		w.confirm(operation, "id", "a repeat made nothing new", "idempotency")
	case another:
		w.confirm(operation, "id", "a repeat made another one", "idempotency")
	}
}

// makesPrice reports that a repeat creates only a quote. A price moves no money.
func makesPrice(x *Exchange) bool { return text(x.Answer, "quoteId") != "" }

// madeIDs returns the ids in a response: its own, or else those of its entries.
func madeIDs(answer any) (ids string) {
	if own := text(answer, "id") + text(answer, "quoteId"); own != "" {
		return own
	}
	entries, isList := answer.([]any)
	if !isList {
		entries, _ = member(answer, "items").([]any)
	}
	for _, entry := range entries {
		ids += text(entry, "id") + " "
	}
	return ids
}
