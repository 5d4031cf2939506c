// Package fleetredis shares the session and the rate windows of one credential between any number of processes, on a
// Redis server.
package fleetredis
