// Package wire is the wire format. It says how amounts, times, queries and secrets are written, which spellings are
// equal, and what the description says about each response. It also reads responses that differ from the description.
//
// The OpenAPI files mark what the description states and what is assumed. The shapes of the responses are generated
// from them. A response that is as described is decoded in one pass. Only one that differs is compared with its shape,
// member by member.
package wire
