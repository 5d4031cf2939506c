// Package store is where the host's records are kept. A part of the host has them in tables ([Table]), or in its own
// lists and indexes that write to the store ([Feed]); it reads nothing else. Before a part releases its lock, it hands
// all changes to the [Store] in one commit. A part that opens reads what is kept.
//
// A record is a plain value that encodes as JSON and decodes to the same value. It refers to another record by id. A
// part makes everything else, such as an index, from its records.
//
// An operation that changes several parts, such as a transfer that pays an invoice, is one commit in each of them, and
// not one over all. These are not records: settings, the time that the clock was advanced by, rate windows, the request
// log and the host's own credentials. A host that opens starts with those of its options.
package store
