package refuse

import "net/http"

// SignatureInvalid is 400 signature_invalid: the signature does not verify, and nothing is consumed.
func SignatureInvalid() *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Code: "signature_invalid",
		Message: "The signature is not valid for this message and public key."}
}

// SignatureHighS is 400 signature_invalid for a signature that verifies and has a high S, on a host that requires a low
// S.
func SignatureHighS() *Refusal {
	refusal := SignatureInvalid()
	refusal.Message = "The signature is valid, but its S is in the upper half of the curve's order; S must be low."
	return refusal
}

// KeyNotRegistered is 403 key_not_registered: the public key is not among the account's developer keys.
func KeyNotRegistered() *Refusal {
	return &Refusal{Status: http.StatusForbidden, Code: "key_not_registered",
		Message: "The public key is not among the account's developer keys."}
}

// SignerNotAttached is 409 signer_not_attached: the developer signer is not attached to the wallet.
func SignerNotAttached() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "signer_not_attached",
		Message: "The developer signer is not attached to the wallet."}
}

// WalletNotLinked is 409 wallet_not_linked: the account has no wallet yet.
func WalletNotLinked() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "wallet_not_linked",
		Message: "The account has no wallet yet; wait until the client is ready."}
}

// ApprovalConsumed is 409 approval_consumed: the approval was already used.
func ApprovalConsumed() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "approval_consumed",
		Message: "The approval already signed something; prepare again."}
}

// ApprovalExpired is 410 approval_expired: the approval window has closed.
func ApprovalExpired() *Refusal {
	return &Refusal{Status: http.StatusGone, Code: "approval_expired",
		Message: "The approval window has closed; prepare again."}
}

// ApprovalMismatch is 409 approval_mismatch: the approval belongs to another operation.
func ApprovalMismatch() *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "approval_mismatch",
		Message: "The approval belongs to another operation."}
}

// SigningPolicyRefused is 403 signing_policy_refused.
func SigningPolicyRefused() *Refusal {
	return &Refusal{Status: http.StatusForbidden, Code: "signing_policy_refused",
		Message: "The signing policy refused the approval."}
}
