// Package signing has developer keys and signs logins and approvals with them. It signs an approval only if the
// approval is what the caller asked for.
//
// The package has:
//
//   - Keys: [DeveloperKey]. Load one with [LoadDeveloperKey] or [LoadEncryptedDeveloperKey], parse one with
//     [ParseDeveloperKey] or [ParseEncryptedDeveloperKey], create one with [Generate], [GenerateEd25519] or
//     [GenerateRSA], or use a key from elsewhere with [FromSigner] or [FromRemote].
//   - Signers: [Signer] and [Algorithm]. Implement Signer for any other kind of key.
//   - Approvals: [Approval], [Intent], [Destination], [CheckApproval], [SignApproval], [PrepareApproval], and the
//     options [VerifyWith] and [AllowExpired].
//   - Login challenges: [Challenge], [CheckChallenge], [SignChallenge], [SeenApprovals], and the option
//     [VerifyChallengeWith].
//   - Signatures: [Verify].
//   - Errors: [ApprovalRefused], [ChallengeRefused], [NotSigned], [RemoteSignatureRefused], [KeyRefused], and values
//     such as [ErrNoKey].
//
// The glossary explains the words of the service, such as approval:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md. The errors are explained in
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md. How to sign in another language is in
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/flows/other-languages.md#sign.
//
// # Keys
//
// A developer key proves who logs in, and authorizes every payment. [DeveloperKey] wraps any [crypto.Signer]: a key
// file, a hardware security module, or a key-management service. For a key-management service, use [FromRemote], which
// passes on your context. This package supports ECDSA P-256 (the default), Ed25519, and RSA from 2048 bits. Package
// wallet adds secp256k1.
//
// Private keys do not appear in output: every fmt verb, JSON and slog show a public fingerprint instead. Every type is
// safe for concurrent use if its signer is.
//
// # Approvals
//
// When a payment is prepared, the service returns an [Approval]. Its payload is what the developer key signs. A
// signature covers the bytes of the payload, not the caller's intention. So [SignApproval] first compares every member
// of the payload with the caller's [Intent]. If there is any difference, it returns [*ApprovalRefused] and does not
// call the signer. Nothing is authorized then. [PrepareApproval] only makes the checks. Use it if you must wait before
// you sign.
//
// # Login challenges
//
// The key also signs the bytes of a [Challenge] to log in. The service chooses these bytes. They must not be the bytes
// of an approval, because that signature would move money. So [SignChallenge] returns [*ChallengeRefused] if the bytes
// look like an approval in any of the forms that [CheckChallenge] knows, or if this credential has received an approval
// with the same bytes ([SeenApprovals]).
//
// A payload is opaque if it is not readable JSON. Nobody can tell an opaque approval from an opaque challenge. If your
// service sends opaque approvals, set a [Verifier], and also a [ChallengeVerifier] that knows what your challenges look
// like.
//
// If a signature cannot be made, the error is [*NotSigned], which wraps the cause.
package signing
