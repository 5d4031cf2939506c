// Package refuse holds the refusals of the sandbox host: one constructor for each slug the host answers.
//
// A [Refusal] is an error that knows its HTTP status, its slug and its details. The host renders it as the platform
// envelope; nothing else in the host writes an error body.
package refuse
