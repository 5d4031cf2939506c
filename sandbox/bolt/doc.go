// Package bolt keeps the state of a sandbox host in a file, so that a host goes on after a restart where it was:
//
//	kept, err := bolt.Open("host.db")
//	if err != nil {
//		return err
//	}
//	defer kept.Close()
//	host := sandbox.New(sandbox.WithStore(kept))
//
// Tests that need no file do not import this package, and do not link bbolt.
//
// # What a crash can lose
//
// Nothing that the host has responded to. Each commit is one transaction of bbolt, and is on the disk before the host
// responds. Of a request without a response, the file has all changes or none, in each part of the host.
// [sandbox.WithStore] says what a host keeps, and lists what it forgets on purpose.
//
// # The file
//
// One process has the file open at a time. Only its owner can read it (mode 0600), because it has the credentials of
// the sandbox in the clear: the developer key, the wallet, app keys, tokens and the details of test cards. It has no
// real money and no real cards, and must never get credentials of the real service.
//
// The file grows when it has to, and its free pages are used again. It does not shrink. To make a copy, close the store
// first. To go back to the start, call [sandbox.Host.Reset], or close the store and delete the file.
//
// It does not build for wasm, because bbolt does not.
package bolt
