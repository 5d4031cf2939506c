package signing

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
)

// maxKeyData bounds what is parsed as a key, in bytes; an RSA 8192 key in PEM takes less than 7 KiB.
const maxKeyData = 64 << 10

// ParseDeveloperKey reads a private key that is not encrypted: PEM or DER; PKCS #8, SEC 1 (EC) or PKCS #1 (RSA). In PEM,
// "EC PARAMETERS" and certificates around the key are skipped. It returns [*KeyRefused] for anything else, and
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
// "openssl pkcs8 -topk8" writes. It returns [ErrPassphraseRequired] for an empty passphrase,
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

// privateKeyDER takes the one private key out of PEM, and checks that DER is one whole value.
func privateKeyDER(data []byte) ([]byte, error) {
	if len(data) > maxKeyData {
		return nil, &KeyRefused{Reason: fmt.Sprintf("%d bytes are too many for a key", len(data))}
	}
	der := data
	if bytes.Contains(data, []byte("-----BEGIN ")) {
		var err error
		if der, err = privateKeyBlock(data); err != nil {
			return nil, err
		}
	}
	// The parsers of crypto/x509 ignore what follows the key.
	var whole asn1.RawValue
	if rest, err := asn1.Unmarshal(der, &whole); err != nil || len(rest) != 0 {
		return nil, &KeyRefused{Reason: "the data is neither PEM nor exactly one DER value"}
	}
	return der, nil
}

func privateKeyBlock(data []byte) (der []byte, err error) {
	var other string
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY":
			if block.Headers["DEK-Info"] != "" {
				return nil, &KeyRefused{Kind: block.Type, Reason: `legacy PEM encryption is not supported; convert it with "openssl pkcs8 -topk8"`}
			}
			if der != nil {
				return nil, &KeyRefused{Reason: "the data holds more than one private key"}
			}
			der = block.Bytes
		default:
			other = block.Type
		}
	}
	switch {
	case der != nil:
		return der, nil
	case other == "OPENSSH PRIVATE KEY":
		return nil, &KeyRefused{Kind: other, Reason: `OpenSSH's own format is not supported; convert it with "ssh-keygen -p -m PKCS8"`}
	case other != "":
		return nil, &KeyRefused{Kind: other, Reason: "the data holds no private key"}
	}
	return nil, &KeyRefused{Reason: "the PEM data is damaged"}
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
