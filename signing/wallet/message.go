package wallet

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/internal/keyfile"
)

// SignMessage returns the signature of message as an EIP-191 personal message, like "personal_sign" of a wallet. The
// signature is 65 bytes in hexadecimal with "0x": R, S and V (27 or 28). Every error is a [*signing.NotSigned].
func (k *Key) SignMessage(ctx context.Context, message []byte) (string, error) {
	return k.signHash(ctx, personalHash(message))
}

// RecoverAddress returns the address of the key that signed message as an EIP-191 personal message. The address has its
// EIP-55 checksum. Every well-formed signature gives some address, so compare it with the address that you expect.
// Errors are signing.ErrSignatureInvalid, and signing.ErrSignatureMalleable for a high S.
func RecoverAddress(message []byte, signatureHex string) (string, error) {
	return recoverAddress(personalHash(message), signatureHex)
}

// SignTypedData returns the signature of an EIP-712 document, like "eth_signTypedData_v4" of a wallet. The document is
// a JSON object with types (including EIP712Domain), primaryType, domain and message. Integers are exact: JSON numbers
// of any length, or decimal or "0x" strings. The signature has the form of [Key.SignMessage].
//
// SignTypedData returns [*TypedDataRefused] for a value that is missing, unknown, null or out of the range of its type,
// because the signature would not cover what a reader of the document expects. Other errors are [*signing.NotSigned].
func (k *Key) SignTypedData(ctx context.Context, typedDataJSON []byte) (string, error) {
	hash, err := typedDataHash(typedDataJSON)
	if err != nil {
		return "", err
	}
	return k.signHash(ctx, hash)
}

// RecoverTypedData is like [RecoverAddress], for an EIP-712 document. It also returns [*TypedDataRefused].
func RecoverTypedData(typedDataJSON []byte, signatureHex string) (string, error) {
	hash, err := typedDataHash(typedDataJSON)
	if err != nil {
		return "", err
	}
	return recoverAddress(hash, signatureHex)
}

// personalHash returns the hash of EIP-191, version 0x45.
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

// parseSignature returns R, S and the recovery id, which is 0 or 1. Some hardware wallets write it in place of V.
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

// TypedDataRefused is the error for an EIP-712 document that was not signed, because a signature would not cover what a
// reader of the document expects.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#wallettypeddatarefused
type TypedDataRefused struct {
	// Path is the place in the document, such as "message.to.wallet" or "types.Mail".
	Path string
	// Reason is one sentence that is safe to log.
	Reason string
}

func (e *TypedDataRefused) Error() string {
	return errorbase.Textf(e, "wallet: typed data refused: %s: %s", keyfile.OneLine(e.Path), keyfile.OneLine(e.Reason))
}
