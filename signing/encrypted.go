package signing

import (
	"crypto"
	"crypto/aes"
	"crypto/des" //nolint:gosec // old key files are still read; none is written so
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"

	"github.com/youmark/pkcs8"
)

// Bounds on the work that a key file can ask for before its passphrase is known to be right.
const (
	maxIterations   = 10_000_000
	maxScryptMemory = 256 << 20 // bytes
	maxScryptLanes  = 16
)

// encryption is what new files are protected with: every tool reads it, and a guess costs 600,000 hashes.
func encryption() *pkcs8.Opts {
	return &pkcs8.Opts{
		Cipher:  pkcs8.AES256CBC,
		KDFOpts: pkcs8.PBKDF2Opts{SaltSize: 16, IterationCount: 600_000, HMACHash: crypto.SHA256},
	}
}

var (
	oidPBES2  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidScrypt = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11591, 4, 11}

	oidHMACWithSHA1   = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 7}
	oidHMACWithSHA256 = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
)

// blockSize returns the block size of a cipher that may be asked for, in bytes, or 0.
func blockSize(cipher asn1.ObjectIdentifier) int {
	switch cipher.String() {
	case "2.16.840.1.101.3.4.1.2", "2.16.840.1.101.3.4.1.22", "2.16.840.1.101.3.4.1.42": // AES-128, 192, 256 in CBC mode
		return aes.BlockSize
	case "1.2.840.113549.3.7": // triple DES in CBC mode
		return des.BlockSize
	}
	return 0
}

// encryptedPrivateKeyInfo is RFC 5958's structure of that name.
type encryptedPrivateKeyInfo struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

// isEncrypted tells an EncryptedPrivateKeyInfo from the plain formats, which all start with a version number.
func isEncrypted(der []byte) bool {
	var info encryptedPrivateKeyInfo
	_, err := asn1.Unmarshal(der, &info)
	return err == nil
}

// decrypt opens an encrypted PKCS #8 key.
func decrypt(der, passphrase []byte) (any, error) {
	if err := checkEncryption(der); err != nil {
		return nil, err
	}
	private, err := pkcs8.ParsePKCS8PrivateKey(der, passphrase)
	if err != nil {
		// What was checked leaves one reason: the decrypted bytes are no key that can be read.
		return nil, ErrPassphraseIncorrect
	}
	return private, nil
}

// checkEncryption admits what the pkcs8 package can do. On its own that package panics on an initialization vector
// or a ciphertext of the wrong length, takes any amount of work from the file, mistakes GCM for CBC, and derives
// another key than the writer did when it overlooks a parameter.
func checkEncryption(der []byte) error {
	var info encryptedPrivateKeyInfo
	if rest, err := asn1.Unmarshal(der, &info); err != nil || len(rest) != 0 {
		return refusedEncryption("the structure is damaged")
	}
	if !info.Algorithm.Algorithm.Equal(oidPBES2) {
		return refusedEncryption("the encryption scheme must be PBES2")
	}
	var scheme struct{ KDF, Cipher pkix.AlgorithmIdentifier }
	if _, err := asn1.Unmarshal(info.Algorithm.Parameters.FullBytes, &scheme); err != nil {
		return refusedEncryption("the PBES2 parameters are damaged")
	}
	if err := checkKDF(scheme.KDF); err != nil {
		return err
	}
	size := blockSize(scheme.Cipher.Algorithm)
	if size == 0 {
		return refusedEncryption("the cipher must be AES or triple DES in CBC mode")
	}
	var iv []byte
	if _, err := asn1.Unmarshal(scheme.Cipher.Parameters.FullBytes, &iv); err != nil || len(iv) != size {
		return refusedEncryption("the initialization vector is damaged")
	}
	if len(info.Data) == 0 || len(info.Data)%size != 0 {
		return refusedEncryption("the ciphertext is truncated")
	}
	return nil
}

func checkKDF(kdf pkix.AlgorithmIdentifier) error {
	switch {
	case kdf.Algorithm.Equal(oidPBKDF2):
		return checkPBKDF2(kdf.Parameters.FullBytes)
	case kdf.Algorithm.Equal(oidScrypt):
		return checkScrypt(kdf.Parameters.FullBytes)
	}
	return refusedEncryption("the key derivation must be PBKDF2 or scrypt")
}

func checkPBKDF2(der []byte) error {
	var p struct {
		Salt       []byte
		Iterations int
		KeyLength  int                      `asn1:"optional"`
		PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
	}
	if _, err := asn1.Unmarshal(der, &p); err != nil {
		return refusedEncryption("the PBKDF2 parameters are damaged")
	}
	if p.Iterations < 1 || p.Iterations > maxIterations {
		return refusedEncryption(fmt.Sprintf("%d iterations are outside 1 to %d", p.Iterations, maxIterations))
	}
	if p.KeyLength != 0 {
		return refusedEncryption("an explicit PBKDF2 key length is not supported")
	}
	if prf := p.PRF.Algorithm; len(prf) != 0 && !prf.Equal(oidHMACWithSHA1) && !prf.Equal(oidHMACWithSHA256) {
		return refusedEncryption("the PBKDF2 function must be HMAC with SHA-1 or SHA-256")
	}
	return nil
}

func checkScrypt(der []byte) error {
	var p struct {
		Salt            []byte
		Cost            int
		BlockSize       int
		Parallelization int
		KeyLength       int `asn1:"optional"`
	}
	if _, err := asn1.Unmarshal(der, &p); err != nil {
		return refusedEncryption("the scrypt parameters are damaged")
	}
	if p.Cost < 2 || p.Cost&(p.Cost-1) != 0 || p.BlockSize < 1 || p.Parallelization < 1 {
		return refusedEncryption("the scrypt parameters are not valid")
	}
	if p.Parallelization > maxScryptLanes || p.BlockSize > maxScryptMemory/128/p.Cost {
		return refusedEncryption("the scrypt parameters ask for too much work")
	}
	return nil
}

func refusedEncryption(reason string) error {
	return &KeyRefused{Kind: "encrypted PKCS #8", Reason: reason}
}
