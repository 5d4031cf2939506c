// Package session is the host's login: accounts and their developer keys, the signed challenge, access and refresh
// tokens, and the checks of the key that every request repeats.
package session
