// Package wire is the wire format: how amounts, times, queries and secrets are written, which spellings are equal, what
// the description says about the members of each response, and how a response is read that differs.
//
// The OpenAPI files mark what the description states and what is assumed. The shapes of the responses are generated
// from them. A response that is as described is decoded in one pass. Only one that differs is compared with its shape,
// member by member.
package wire
