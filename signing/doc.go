// Package signing holds developer keys, and signs with them only what the caller asked for.
//
// A developer key proves who logs in and authorizes every departure of money. [DeveloperKey] wraps any
// [crypto.Signer]: a key file, an HSM, or a remote key-management service ([FromRemote], which hands on the
// caller's context). Three kinds are supported here, ECDSA P-256 (the default), Ed25519 and RSA from 2048 bits;
// package wallet, below this one, adds secp256k1.
//
// The service prepares a money-moving operation and answers an [Approval], whose payload the developer key signs.
// A signature covers the payload's bytes, not what the caller had in mind, so [SignApproval] first compares every
// member of the payload with the caller's [Intent] and refuses ([ApprovalRefused]) on any difference: the signer
// is not called, and nothing was authorized.
//
// Private keys never print: every fmt verb, JSON and slog show a public fingerprint instead.
//
// Every type is safe for concurrent use, as long as the signer behind it is.
package signing
