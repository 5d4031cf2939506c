// Package fleetpostgres shares the session and the rate windows of one credential between any number of processes,
// over PostgreSQL. See package fleet for what holds, and what holds approximately.
//
// [Migrate] creates two tables and a function in a schema of your choice, which can be that of payments/postgres.
// [NewTokenStore] is for [dapi.Developer].Store: one process logs in or refreshes the token while it holds a lock, and
// the others take the session from the table. The lock ends by itself if its owner dies. [NewLimiter] is for
// moneymovement.WithRateLimiter: one statement takes slots from a log of the calls, by the database's clock, while it
// holds the row of the window.
//
// # The server
//
// PostgreSQL 13 or later. The isolation read committed, the default, works best: with a higher default, processes
// get in each other's way, and ask again. Transaction poolers can be used, because nothing depends on a connection.
// The table of windows is not logged, so that no question waits for the disk. A crash or a failover empties it: the
// processes report the calls that still count, and up to one window more can go through. The table of sessions is
// logged.
//
// Rows of windows that count nothing any more are deleted now and then. The user who calls Migrate needs the right
// to create what is missing. Other users need USAGE on the schema, SELECT, INSERT, UPDATE and DELETE on the two tables,
// and EXECUTE on the function.
//
// A session in the table is as secret as a password: use TLS, access rules, and [WithEncryption].
package fleetpostgres
