package signing

import (
	"crypto"
	"crypto/x509"
	"fmt"

	"github.com/moneymovement/moneymovement-go/signing/internal/keyfile"
)

// ParseDeveloperKey reads a private key that is not encrypted, in PEM or DER: PKCS #8, SEC 1 (EC) or PKCS #1 (RSA). In
// PEM, it skips "EC PARAMETERS" and certificates. It returns [ErrPassphraseRequired] for an encrypted key, and
// [*KeyRefused] for anything else.
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

// ParseEncryptedDeveloperKey reads a private key in passphrase-protected PKCS #8, in PEM or DER. It supports what
// "openssl pkcs8 -topk8" writes: PBES2 with PBKDF2 (HMAC with SHA-1 or SHA-2) or scrypt, and AES or triple DES in CBC
// mode. In a program with GODEBUG=fips140=only, what FIPS 140 does not allow is refused with [*KeyRefused].
//
// ParseEncryptedDeveloperKey refuses a file that needs more than two or three seconds of work, before it does the work.
// The limits are 10,000,000 iterations of PBKDF2 (half of that if the key needs two hashes), and for scrypt an N*r*p of
// 2,097,152 and a salt of 64 bytes.
//
// Errors are [ErrPassphraseRequired] for an empty passphrase, [ErrPassphraseIncorrect], [ErrNotEncrypted] and
// [*KeyRefused].
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
	if !ok { // for example an X25519 key
		return nil, &KeyRefused{Kind: fmt.Sprintf("%T", private), Reason: "the key cannot sign"}
	}
	return FromSigner(signer)
}

// privateKeyDER returns the one private key in PEM or DER.
func privateKeyDER(data []byte) ([]byte, error) {
	der, malformed := keyfile.Decode(data)
	if malformed != nil {
		return nil, &KeyRefused{Kind: malformed.Kind, Reason: malformed.Reason}
	}
	return der, nil
}

// parsePlain tries the three formats. The errors of the last two would only mislead.
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
	return nil, &KeyRefused{
		Reason: "the data is not a PKCS #8, SEC 1 or PKCS #1 private key of a supported algorithm " +
			"(for secp256k1 keys, use package wallet)",
		Err: err,
	}
}
