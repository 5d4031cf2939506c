// Package store keeps the host's records. A part of the host has its records in tables ([Table]), or in its own lists
// and indexes that write to the store ([Feed]). It reads nothing else. Before a part releases its lock, it passes all
// changes to the [Store] in one commit. When a part opens, it reads the stored records.
//
// A record is a plain value that can be encoded as JSON and decoded to the same value. It refers to another record by
// id. A part derives everything else, such as an index, from its records.
//
// An operation that changes several parts, such as a transfer that pays an invoice, makes one commit in each part, and
// not one for all. The host itself is a part as well: it stores its credentials, the settings that were changed, and
// the time by which the clock was advanced. These are not stored: rate windows, the request log, the audit, and
// requests that a fault repeats later.
package store
