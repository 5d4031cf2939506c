// Package contract holds the tests that hold the SDK against the description as a whole: every operation of every surface is called through
// the public API, against the embedded sandbox host, whose answers are validated against the same description.
package contract
