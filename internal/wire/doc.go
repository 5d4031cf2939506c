// Package wire is the wire format. It says how amounts, times, queries and secrets are written, which spellings are
// equal, and what the description says about each response. It also reads responses that differ from the description.
//
// The OpenAPI files mark what the description states and what is assumed. The shapes of the responses are generated
// from them, with the fields of their Go types. A [Reader] reads a response in one pass, and compares each member with
// its shape. A member that differs is changed into the form of its field, if that can be done. Only a response that is
// in another envelope, or is not the right one at all, is brought into its form as a whole.
package wire
