// Package store is where the host's records are kept. A part of the host has them in tables, which are all that it reads.
// What a request has changed in the tables of a part is handed to the [Store] as one piece before the part's lock is given
// back, and a part that opens reads its tables from the store.
//
// A record is a plain value that encodes as JSON and decodes to the same. It refers to another one by its id. Whatever
// else a part has beside its tables, such as an index, it makes from them.
package store
