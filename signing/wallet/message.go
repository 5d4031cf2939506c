package wallet

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/internal/oneline"
)

// SignMessage signs message as an EIP-191 personal message, as "personal_sign" of a wallet does. The signature is
// R, S and V (27 or 28), 65 bytes in hexadecimal with "0x".
func (k *Key) SignMessage(ctx context.Context, message []byte) (string, error) {
	return k.signHash(ctx, personalHash(message))
}

// RecoverAddress returns the address, with its EIP-55 checksum, whose key signed the EIP-191 personal message. Any
// well-formed signature recovers to some address, so compare it with the expected one. It returns
// signing.ErrSignatureInvalid, or signing.ErrSignatureMalleable for a high S.
func RecoverAddress(message []byte, signatureHex string) (string, error) {
	return recoverAddress(personalHash(message), signatureHex)
}

// SignTypedData signs an EIP-712 document, as "eth_signTypedData_v4" of a wallet does: a JSON object with types
// (EIP712Domain among them), primaryType, domain and message. Values must be complete: what is missing, unknown, null
// or out of its type's range is refused ([*TypedDataRefused]), since it would not be signed as the reader of the
// document understands it. Integers are exact, as JSON numbers of any length or as decimal or "0x" strings.
// The signature is as for [Key.SignMessage].
func (k *Key) SignTypedData(ctx context.Context, typedDataJSON []byte) (string, error) {
	hash, err := typedDataHash(typedDataJSON)
	if err != nil {
		return "", err
	}
	return k.signHash(ctx, hash)
}

// RecoverTypedData is [RecoverAddress] for an EIP-712 document; it also returns [*TypedDataRefused].
func RecoverTypedData(typedDataJSON []byte, signatureHex string) (string, error) {
	hash, err := typedDataHash(typedDataJSON)
	if err != nil {
		return "", err
	}
	return recoverAddress(hash, signatureHex)
}

// personalHash is EIP-191, version 0x45.
func personalHash(message []byte) []byte {
	prefix := "\x19Ethereum Signed Message:\n" + strconv.Itoa(len(message))
	return crypto.Keccak256([]byte(prefix), message)
}

func (k *Key) signHash(ctx context.Context, hash []byte) (string, error) {
	signature, err := k.signDigest(ctx, hash)
	if err != nil {
		return "", err
	}
	signature[64] += 27
	return "0x" + hex.EncodeToString(signature), nil
}

func recoverAddress(hash []byte, signatureHex string) (string, error) {
	signature, err := parseSignature(signatureHex)
	if err != nil {
		return "", err
	}
	public, err := crypto.SigToPub(hash, signature)
	if err != nil {
		return "", fmt.Errorf("%w: no key could have made it", signing.ErrSignatureInvalid)
	}
	return crypto.PubkeyToAddress(*public).Hex(), nil
}

// parseSignature answers R, S and the recovery id, 0 or 1. Some hardware wallets write that in place of V.
func parseSignature(signatureHex string) ([]byte, error) {
	signature, err := hex.DecodeString(strings.TrimPrefix(signatureHex, "0x"))
	if err != nil || len(signature) != crypto.SignatureLength {
		return nil, fmt.Errorf("%w: it must be 65 bytes in hexadecimal", signing.ErrSignatureInvalid)
	}
	if signature[64] >= 27 {
		signature[64] -= 27
	}
	r, v := new(big.Int).SetBytes(signature[:32]), signature[64]
	s := new(big.Int).SetBytes(signature[32:64])
	switch {
	case !crypto.ValidateSignatureValues(v, r, s, false):
		return nil, fmt.Errorf("%w: R, S or V is out of range", signing.ErrSignatureInvalid)
	case !crypto.ValidateSignatureValues(v, r, s, true):
		return nil, signing.ErrSignatureMalleable
	}
	return signature, nil
}

// TypedDataRefused says why an EIP-712 document was not signed.
type TypedDataRefused struct {
	// Path is the place in the document, such as "message.to.wallet" or "types.Mail".
	Path string
	// Reason is one sentence safe to log.
	Reason string
}

func (e *TypedDataRefused) Error() string {
	return fmt.Sprintf("wallet: typed data refused: %s: %s", oneline.Of(e.Path), oneline.Of(e.Reason))
}
