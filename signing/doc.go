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
// is not called, and nothing was authorized. [PrepareApproval] is the check alone, for who has to wait in between.
//
// A login is the other thing that the key signs: the bytes of a [Challenge], which the service chooses. They must
// not be an approval's, whose signature would move money, so [SignChallenge] refuses ([ChallengeRefused]) whatever
// reads as one, in any disguise that [CheckChallenge] knows, and approvals that this credential met before
// ([SeenApprovals]). One thing cannot be told by looking: an opaque approval from an opaque challenge. A service
// whose approvals are opaque has to be known to the caller anyway, who sets a [Verifier] for them; a
// [ChallengeVerifier] should then say what its challenges look like.
//
// A signature that was wanted and not made is [NotSigned], around its cause.
//
// Private keys never print: every fmt verb, JSON and slog show a public fingerprint instead.
//
// Every type is safe for concurrent use, as long as the signer behind it is.
package signing
