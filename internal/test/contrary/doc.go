// Package contrary proves that any single assumption of the description can be wrong: an integrator's program still
// works, reports what it could not read, and never pays twice.
//
// Its cases are derived from the marks (x-assumed) of the OpenAPI files, so a new mark is a new case. [Derive] finds
// the places on the wire that a mark is about, classifies the mark, and says how a service can differ in this one
// thing. The tests run each case twice. First they call the operation alone, with complete responses made from the
// schemas, to check what was read. Then they run the flows that use the operation, against the embedded sandbox host
// behind a handler that changes this one thing. They check the outcome and the host's books.
//
// A mark without a class, and a case that no test runs, fail. openapi/README.md lists every mark with its result.
package contrary

//go:generate go test -count=1 -run ^TestPageIsUpToDate$ . -write
