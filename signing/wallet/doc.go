// Package wallet signs with Ethereum keys.
//
// The package has:
//
//   - Keys: [Key]. Create one with [Generate], load one with [LoadKey], or parse one with [ParseKey] or [ParseHex].
//   - Personal messages (EIP-191): [Key.SignMessage], [RecoverAddress].
//   - Typed data (EIP-712): [Key.SignTypedData], [RecoverTypedData], and the error [TypedDataRefused].
//   - Logins and approvals of the platform API: [Key] is a signing.Signer, a secp256k1 developer key. [Verify] checks
//     signatures of all kinds of developer keys.
//
// Private keys do not appear in output: every fmt verb, JSON and slog show the address instead. A Key is safe for
// concurrent use.
//
// The glossary explains the words of the service:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md. The errors are explained in
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md.
package wallet
