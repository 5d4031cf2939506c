// Package recordings compares the recordings in package internal/recorded with the sandbox host. Its test runs the
// examples of the SDK's packages, each against a host of its own, and compares the requests and responses with the
// recordings. `make recordings` writes them anew.
package recordings
