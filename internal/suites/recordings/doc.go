// Package recordings holds the answers that the examples of the SDK's packages get, those of package internal/recorded,
// against the sandbox host's. Its one test runs the examples themselves, each against a host of its own, and compares
// their requests and responses with the recordings. `make recordings` writes the recordings anew.
package recordings
