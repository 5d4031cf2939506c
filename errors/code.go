package errors

// Code is a slug: the stable lowercase snake_case name of a refusal. Callers branch on it, never on the message. The
// set is open.
//
// Source: Errors, Platform envelope.
type Code string

// entry is what the catalogue says about a slug.
type entry struct {
	status    int
	remedy    Remedy
	moved     Movement
	condition string
	hint      string
}

// Known reports whether the catalogue has this slug. A folded slug is not known: callers never see it.
func (c Code) Known() bool {
	_, known := c.lookup()
	return known
}

// Status is the HTTP status that the slug comes with, or 0 when the catalogue does not know it.
//
// Source: Errors, Slugs.
func (c Code) Status() int {
	e, _ := c.lookup()
	return e.status
}

// Hint is our advice on what to do about the slug, or "". It stands in the text of the slug's errors.
func (c Code) Hint() string {
	e, _ := c.lookup()
	return e.hint
}

// Condition is the sentence that says when the service answers the slug, or "" when the catalogue does not know it.
//
// Source: Errors, Slugs.
func (c Code) Condition() string {
	e, _ := c.lookup()
	return e.condition
}
