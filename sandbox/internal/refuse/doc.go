// Package refuse has the refusals of the sandbox host: one constructor for each slug that the host sends.
//
// A [Refusal] is an error with its HTTP status, its slug and its details. The host writes it as the platform envelope.
// Nothing else in the host writes an error body.
package refuse
