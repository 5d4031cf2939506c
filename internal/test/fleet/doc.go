// Package fleet holds tests of many processes that share the session and the rate windows of one credential: real
// processes, real stores, and the sandbox host with rate windows on.
package fleet
