// Package contrary proves that any single assumption of the description can be wrong: an integrator's program still
// works, says what it could not read, and moves no money twice.
//
// Its cases are derived from the marks (x-assumed) of the OpenAPI files, so that a new mark is a new case. [Derive]
// finds where on the wire the thing stands that a mark speaks of, gives the mark its classes, and says what a service
// does that differs in this one thing. The tests then run each case twice: the operation alone, against complete
// answers that are made from the schemas, to see what was read; and the flows that use it, against the embedded sandbox
// host behind a handler that changes that one thing, to see the outcome and the host's books.
//
// A mark in no class, and a case that no test runs, fail. docs/assumptions.md lists every mark with what happens to it.
package contrary

//go:generate go run ./table -o ../../../docs/assumptions.md
