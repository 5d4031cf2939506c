// Package store is where the host's records are kept. A part of the host has them in tables ([Table]), or in lists and
// indexes of its own that feed the store ([Feed]); it reads nothing else. What a turn of a part has changed is handed
// to the [Store] as one piece before the part's lock is given back, and a part that opens reads what is kept.
//
// A record is a plain value that encodes as JSON and decodes to the same. It refers to another one by its id. Whatever
// else a part has, such as an index, it makes from them.
//
// An operation that goes over several parts, such as a transfer that pays an invoice, is one piece in each of them, and
// not one over all. Settings, what the clock was advanced by, rate windows, the request log and the host's own
// credentials are no records: a host that opens starts with those of its options.
package store
