// Package rig tests programs in real time with real processes and sockets: a sandbox host on loopback with its books
// and its raw requests, a proxy that makes the network bad, and child processes that are killed at a chosen moment.
//
// The test's process has the host, and so it knows what happened, whatever the children say.
package rig
