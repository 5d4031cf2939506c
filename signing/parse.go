package signing

import (
	"crypto"
	"crypto/x509"
	"fmt"

	"github.com/moneymovement/moneymovement-go/signing/internal/keyfile"
)

// ParseDeveloperKey reads a private key that is not encrypted: PEM or DER; PKCS #8, SEC 1 (EC) or PKCS #1 (RSA). In
// PEM, "EC PARAMETERS" and certificates around the key are skipped. It returns [*KeyRefused] for anything else, and
// [ErrPassphraseRequired] for an encrypted key.
func ParseDeveloperKey(pemOrDER []byte) (*DeveloperKey, error) {
	der, err := privateKeyDER(pemOrDER)
	if err != nil {
		return nil, err
	}
	if isEncrypted(der) {
		return nil, ErrPassphraseRequired
	}
	private, err := parsePlain(der)
	if err != nil {
		return nil, err
	}
	return fromPrivate(private)
}

// ParseEncryptedDeveloperKey reads a private key in passphrase-protected PKCS #8, PEM or DER: PBES2 with PBKDF2
// (HMAC with SHA-1 or SHA-256) or scrypt, and AES or triple DES in CBC mode, which is what
// "openssl pkcs8 -topk8" writes. A file that asks for more than two or three seconds of work is refused before any
// of it is done: 10,000,000 iterations of PBKDF2, half of that if the key takes two hashes, or N*r*p of scrypt of
// 2,097,152 with a salt of 64 bytes, are the most. It returns [ErrPassphraseRequired] for an empty passphrase,
// [ErrPassphraseIncorrect], [ErrNotEncrypted], or [*KeyRefused].
func ParseEncryptedDeveloperKey(pemOrDER, passphrase []byte) (*DeveloperKey, error) {
	if len(passphrase) == 0 {
		return nil, ErrPassphraseRequired
	}
	der, err := privateKeyDER(pemOrDER)
	if err != nil {
		return nil, err
	}
	if !isEncrypted(der) {
		if _, err := parsePlain(der); err != nil {
			return nil, err
		}
		return nil, ErrNotEncrypted
	}
	private, err := decrypt(der, passphrase)
	if err != nil {
		return nil, err
	}
	return fromPrivate(private)
}

func fromPrivate(private any) (*DeveloperKey, error) {
	signer, ok := private.(crypto.Signer)
	if !ok { // an X25519 key, for one
		return nil, &KeyRefused{Kind: fmt.Sprintf("%T", private), Reason: "the key cannot sign"}
	}
	return FromSigner(signer)
}

// privateKeyDER takes the one private key out of PEM or DER.
func privateKeyDER(data []byte) ([]byte, error) {
	der, malformed := keyfile.Decode(data)
	if malformed != nil {
		return nil, &KeyRefused{Kind: malformed.Kind, Reason: malformed.Reason}
	}
	return der, nil
}

// parsePlain tries the three formats; the errors of the two that do not fit would only mislead.
func parsePlain(der []byte) (any, error) {
	private, err := x509.ParsePKCS8PrivateKey(der)
	if err == nil {
		return private, nil
	}
	if private, err := x509.ParseECPrivateKey(der); err == nil {
		return private, nil
	}
	if private, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return private, nil
	}
	return nil, &KeyRefused{Reason: "the data is no PKCS #8, SEC 1 or PKCS #1 private key of a supported algorithm (secp256k1 keys live in package wallet)", Err: err}
}
