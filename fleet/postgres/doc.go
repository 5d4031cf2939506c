// Package fleetpostgres shares the session and the rate windows of one credential between any number of processes, on
// PostgreSQL.
package fleetpostgres
