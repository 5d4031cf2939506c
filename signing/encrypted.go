package signing

import (
	"crypto"
	"crypto/aes"
	"crypto/des"  //gosec:disable G502 -- old key files are still read; none is written so
	"crypto/sha1" //gosec:disable G505 -- as above
	"crypto/sha256"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"

	"github.com/youmark/pkcs8"
)

// Limits of the work that a key file can ask for before its passphrase is checked: two or three seconds of one core. By
// default, OpenSSL asks for 2,048 iterations of PBKDF2, or for 2^17 of scrypt's work.
const (
	// maxHashes limits PBKDF2's iterations, which are made for each piece of the key that has the length of the hash.
	maxHashes = 10_000_000
	// maxScryptWork limits N*r*p. Memory is 128 bytes times N*r, so this limits it to 256 MiB.
	maxScryptWork  = 1 << 21
	maxScryptLanes = 16
	// maxScryptMix limits r*p: 128 bytes for each are hashed before and after the mixing, even if N is small. Tools
	// use 8 to 128.
	maxScryptMix = 1 << 13
	// maxScryptSalt limits what is hashed for each 32 bytes of that memory. Tools write 8 to 32 bytes.
	maxScryptSalt = 64
)

// encryption returns the encryption of new files. Every tool can read it, and a guess costs 600,000 hashes.
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

// cipher has the sizes of a cipher in bytes.
type cipher struct{ block, key int }

// cipherOf returns a supported cipher, or the zero value.
func cipherOf(oid asn1.ObjectIdentifier) cipher {
	switch oid.String() {
	case "2.16.840.1.101.3.4.1.2": // AES in CBC mode
		return cipher{aes.BlockSize, 16}
	case "2.16.840.1.101.3.4.1.22":
		return cipher{aes.BlockSize, 24}
	case "2.16.840.1.101.3.4.1.42":
		return cipher{aes.BlockSize, 32}
	case "1.2.840.113549.3.7": // triple DES in CBC mode
		return cipher{des.BlockSize, 24}
	}
	return cipher{}
}

// encryptedPrivateKeyInfo is the structure of RFC 5958.
type encryptedPrivateKeyInfo struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

// isEncrypted reports whether der is an EncryptedPrivateKeyInfo. All plain formats start with a version number.
func isEncrypted(der []byte) bool {
	var info encryptedPrivateKeyInfo
	_, err := asn1.Unmarshal(der, &info)
	return err == nil
}

// decrypt returns the key in an encrypted PKCS #8 structure.
func decrypt(der, passphrase []byte) (any, error) {
	if err := checkEncryption(der); err != nil {
		return nil, err
	}
	private, err := pkcs8.ParsePKCS8PrivateKey(der, passphrase)
	if err != nil {
		// After the checks, one reason is left: the decrypted bytes are not a readable key.
		return nil, ErrPassphraseIncorrect
	}
	return private, nil
}

// checkEncryption accepts only what the pkcs8 package handles correctly. Without these checks, that package panics on
// an initialization vector or a ciphertext of the wrong length, does any amount of work that the file asks for, reads
// GCM as CBC, and derives a wrong key if it ignores a parameter.
//
// The pkcs8 package last changed in 2024. There is no better one: smallstep's pemutil does not read scrypt, and the
// forks of pkcs8 are no newer or need a library of other ciphers. None of them checks more.
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
	cipher := cipherOf(scheme.Cipher.Algorithm)
	if cipher.key == 0 {
		return refusedEncryption("the cipher must be AES or triple DES in CBC mode")
	}
	if err := checkKDF(scheme.KDF, cipher.key); err != nil {
		return err
	}
	var iv []byte
	if _, err := asn1.Unmarshal(scheme.Cipher.Parameters.FullBytes, &iv); err != nil || len(iv) != cipher.block {
		return refusedEncryption("the initialization vector is damaged")
	}
	if len(info.Data) == 0 || len(info.Data)%cipher.block != 0 {
		return refusedEncryption("the ciphertext is truncated")
	}
	return nil
}

// checkKDF checks the derivation of a key of length bytes.
func checkKDF(kdf pkix.AlgorithmIdentifier, length int) error {
	switch {
	case kdf.Algorithm.Equal(oidPBKDF2):
		return checkPBKDF2(kdf.Parameters.FullBytes, length)
	case kdf.Algorithm.Equal(oidScrypt):
		return checkScrypt(kdf.Parameters.FullBytes)
	}
	return refusedEncryption("the key derivation must be PBKDF2 or scrypt")
}

func checkPBKDF2(der []byte, length int) error {
	var p struct {
		Salt       []byte
		Iterations int
		KeyLength  int                      `asn1:"optional"`
		PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
	}
	if _, err := asn1.Unmarshal(der, &p); err != nil {
		return refusedEncryption("the PBKDF2 parameters are damaged")
	}
	if p.KeyLength != 0 {
		return refusedEncryption("an explicit PBKDF2 key length is not supported")
	}
	hash := sha1.Size
	switch prf := p.PRF.Algorithm; {
	case prf.Equal(oidHMACWithSHA256):
		hash = sha256.Size
	case len(prf) != 0 && !prf.Equal(oidHMACWithSHA1):
		return refusedEncryption("the PBKDF2 function must be HMAC with SHA-1 or SHA-256")
	}
	if most := maxHashes / ((length + hash - 1) / hash); p.Iterations < 1 || p.Iterations > most {
		return refusedEncryption(fmt.Sprintf("%d PBKDF2 iterations are outside 1 to %d; %s", p.Iterations, most,
			encryptAgain))
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
	if len(p.Salt) > maxScryptSalt {
		return refusedEncryption(fmt.Sprintf("a scrypt salt of %d bytes is too much work: it may have up to %d; %s",
			len(p.Salt), maxScryptSalt, encryptAgain))
	}
	// A division, because their product can overflow.
	if p.Parallelization > maxScryptLanes || p.BlockSize > min(maxScryptMix, maxScryptWork/p.Cost)/p.Parallelization {
		return refusedEncryption(fmt.Sprintf("scrypt with N=%d, r=%d and p=%d is too much work: "+
			"N*r*p may be up to %d, r*p up to %d, and p up to %d; %s",
			p.Cost, p.BlockSize, p.Parallelization, maxScryptWork, maxScryptMix, maxScryptLanes, encryptAgain))
	}
	return nil
}

// encryptAgain says how to repair a file that asks for too much work.
const encryptAgain = `decrypt the file with the tool that wrote it, ` +
	`and encrypt it again with "openssl pkcs8 -topk8 -iter 600000"`

func refusedEncryption(reason string) error {
	return &KeyRefused{Kind: "encrypted PKCS #8", Reason: reason}
}
