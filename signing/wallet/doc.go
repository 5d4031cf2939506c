// Package wallet signs with Ethereum keys: personal messages (EIP-191), typed data (EIP-712), and, since [Key] is a
// signing.Signer, logins and approvals of the platform API with a secp256k1 developer key.
//
// Private keys never print: every fmt verb, JSON and slog show the address instead. A Key is safe for concurrent
// use.
package wallet
