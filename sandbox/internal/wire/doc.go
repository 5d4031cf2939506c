// Package wire has what the operations of all surfaces share, between the gate and the state machines.
//
// An operation receives a [Request] as the gate has read it, and the [Caller] in its context. It returns a [Response],
// or a [Refusal] as its error: there is one constructor for each slug that the host sends. A refusal has an HTTP
// status, a slug and details. The gate writes it as the platform envelope, and nothing else in the host writes an error
// body. What to do about each slug is here as well, in the words of docs/errors.md. A [Number] is an amount that is a
// JSON number, with all its digits.
//
// The packages below this one are generated, one for each surface: its models and the interface of its server. Their
// names are those of the descriptions, and the same name is another type in another surface.
package wire
