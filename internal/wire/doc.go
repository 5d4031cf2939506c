// Package wire is the format of what travels: how amounts, timestamps, queries and secrets are spelled, which spellings
// say the same, what the description says about the members of each answer, and how an answer is read that differs from
// it.
//
// What the description states and what it leaves to be assumed is marked in the OpenAPI files; the shapes of the
// answers are generated from them. An answer that is as described is decoded in one go. Only one that is not is
// compared with its shape, member by member.
package wire
