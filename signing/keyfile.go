package signing

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/des" //gosec:disable G502 -- old key files are still read; none is written so
	"crypto/fips140"
	"crypto/pbkdf2"
	"crypto/sha1" //gosec:disable G505 -- as above
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"hash"

	"github.com/youmark/pkcs8"
	"golang.org/x/crypto/scrypt"

	"github.com/moneymovement/moneymovement-go/signing/internal/keyfile"
)

// LoadDeveloperKey reads a private key file in a format of [ParseDeveloperKey]. Errors are those of ParseDeveloperKey
// and of os.Open, such as fs.ErrNotExist. It does not check the permissions of the file, because in containers a group
// can often read secrets. Protect the file yourself.
func LoadDeveloperKey(path string) (*DeveloperKey, error) {
	return load(path, ParseDeveloperKey)
}

// LoadEncryptedDeveloperKey reads a passphrase-protected private key file in a format of [ParseEncryptedDeveloperKey].
// Errors are those of ParseEncryptedDeveloperKey and of os.Open, such as fs.ErrNotExist.
func LoadEncryptedDeveloperKey(path string, passphrase []byte) (*DeveloperKey, error) {
	return load(path, func(data []byte) (*DeveloperKey, error) {
		return ParseEncryptedDeveloperKey(data, passphrase)
	})
}

func load(path string, parse func([]byte) (*DeveloperKey, error)) (*DeveloperKey, error) {
	data, err := keyfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("signing: load developer key: %w", err)
	}
	defer clear(data)
	key, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("signing: load developer key %s: %w", path, err)
	}
	return key, nil
}

// Save writes the private key to a new file in PKCS #8 PEM. Only the owner can read the file (mode 0600). Save writes
// the whole file or nothing, and never overwrites a file: if path exists, it returns fs.ErrExist. It returns
// [ErrNotExportable] if the private half is in another signer, and [ErrNoKey] for a zero key.
func (k *DeveloperKey) Save(path string) error {
	der, err := k.encode()
	if err != nil {
		return err
	}
	return save(path, plainBlock, der)
}

// PEM returns the private key as [DeveloperKey.Save] writes it, for a secret store in place of a file. Its errors are
// those of Save.
func (k *DeveloperKey) PEM() ([]byte, error) {
	der, err := k.encode()
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: plainBlock, Bytes: der}), nil
}

// plainBlock is the PEM type of a private key that is not encrypted.
const plainBlock = "PRIVATE KEY"

func (k *DeveloperKey) encode() ([]byte, error) {
	private, err := k.private()
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("signing: encode private key: %w", err)
	}
	return der, nil
}

// SaveEncrypted is like [DeveloperKey.Save], and encrypts the key with a passphrase: PBES2 with AES-256-CBC, and PBKDF2
// with 600,000 rounds of HMAC-SHA-256. It returns [ErrPassphraseRequired] for an empty passphrase.
func (k *DeveloperKey) SaveEncrypted(path string, passphrase []byte) error {
	if len(passphrase) == 0 { // the pkcs8 package would write the key in the clear
		return ErrPassphraseRequired
	}
	private, err := k.private()
	if err != nil {
		return err
	}
	der, err := pkcs8.MarshalPrivateKey(private, passphrase, encryption())
	if err != nil {
		return fmt.Errorf("signing: encrypt private key: %w", err)
	}
	return save(path, "ENCRYPTED PRIVATE KEY", der)
}

func (k *DeveloperKey) private() (any, error) {
	switch {
	case k == nil || k.sign == nil:
		return nil, ErrNoKey
	case k.export == nil:
		return nil, ErrNotExportable
	}
	return k.export(), nil
}

func save(path, blockType string, der []byte) error {
	if err := keyfile.Create(path, blockType, der); err != nil {
		return fmt.Errorf("signing: save private key: %w", err)
	}
	return nil
}

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
)

// hashes are those of PBKDF2, by the object identifier of their HMAC.
var hashes = map[string]func() hash.Hash{
	"":                    sha1.New, // the default
	"1.2.840.113549.2.7":  sha1.New,
	"1.2.840.113549.2.8":  sha256.New224,
	"1.2.840.113549.2.9":  sha256.New,
	"1.2.840.113549.2.10": sha512.New384,
	"1.2.840.113549.2.11": sha512.New,
}

// ciphers are those of a key, in CBC mode, by their object identifier.
var ciphers = map[string]cbc{
	"2.16.840.1.101.3.4.1.2":  {aes.BlockSize, 16, aes.NewCipher},
	"2.16.840.1.101.3.4.1.22": {aes.BlockSize, 24, aes.NewCipher},
	"2.16.840.1.101.3.4.1.42": {aes.BlockSize, 32, aes.NewCipher},
	"1.2.840.113549.3.7":      {des.BlockSize, 24, des.NewTripleDESCipher},
}

// cbc is a cipher in CBC mode, with its sizes in bytes.
type cbc struct {
	block, key int
	cipher     func(key []byte) (cipher.Block, error)
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

// keyEncryption is how a key file is encrypted, as it says itself.
type keyEncryption struct {
	derive deriving
	cbc    cbc
	iv     []byte
	data   []byte
}

// decrypt returns the key in an encrypted PKCS #8 structure. Under FIPS 140, the module of this program can refuse what
// the file asks for.
func decrypt(der, passphrase []byte) (any, error) {
	e, err := readEncryption(der)
	if err != nil {
		return nil, err
	}
	notAllowed := func(err error) error {
		return &KeyRefused{Kind: "encrypted PKCS #8", Err: err, Reason: "this program may not use the encryption of " +
			`the file; encrypt the key again with "openssl pkcs8 -topk8 -iter 600000 -saltlen 16"`}
	}
	key, err := e.derive(passphrase, e.cbc.key)
	if err != nil {
		return nil, notAllowed(err)
	}
	block, err := e.cbc.cipher(key)
	if err != nil {
		return nil, notAllowed(err)
	}
	plain := make([]byte, len(e.data))
	defer clear(plain)
	cipher.NewCBCDecrypter(block, e.iv).CryptBlocks(plain, e.data)
	padding := int(plain[len(plain)-1])
	if padding > len(plain) { // the parser judges the rest
		return nil, ErrPassphraseIncorrect
	}
	private, err := x509.ParsePKCS8PrivateKey(plain[:len(plain)-padding])
	if err != nil {
		return nil, ErrPassphraseIncorrect
	}
	return private, nil
}

// readEncryption reads how a key is encrypted. It refuses what would be too much work.
//
// The library that encrypts new files reads them, too, but panics on an initialization vector or a ciphertext of the
// wrong length and under FIPS 140, does any amount of work, and knows SHA-1 and SHA-256 alone.
func readEncryption(der []byte) (*keyEncryption, error) {
	var info encryptedPrivateKeyInfo
	if rest, err := asn1.Unmarshal(der, &info); err != nil || len(rest) != 0 {
		return nil, refusedEncryption("the structure is damaged")
	}
	if !info.Algorithm.Algorithm.Equal(oidPBES2) {
		return nil, refusedEncryption("the encryption scheme must be PBES2")
	}
	var scheme struct{ KDF, Cipher pkix.AlgorithmIdentifier }
	if _, err := asn1.Unmarshal(info.Algorithm.Parameters.FullBytes, &scheme); err != nil {
		return nil, refusedEncryption("the PBES2 parameters are damaged")
	}
	e := &keyEncryption{cbc: ciphers[scheme.Cipher.Algorithm.String()], data: info.Data}
	if e.cbc.key == 0 {
		return nil, refusedEncryption("the cipher must be AES or triple DES in CBC mode")
	}
	var err error
	if e.derive, err = readKDF(scheme.KDF, e.cbc.key); err != nil {
		return nil, err
	}
	_, err = asn1.Unmarshal(scheme.Cipher.Parameters.FullBytes, &e.iv)
	if err != nil || len(e.iv) != e.cbc.block {
		return nil, refusedEncryption("the initialization vector is damaged")
	}
	if len(e.data) == 0 || len(e.data)%e.cbc.block != 0 {
		return nil, refusedEncryption("the ciphertext is truncated")
	}
	return e, nil
}

type deriving = func(passphrase []byte, length int) ([]byte, error)

// readKDF reads the derivation of a key of length bytes.
func readKDF(kdf pkix.AlgorithmIdentifier, length int) (deriving, error) {
	switch {
	case kdf.Algorithm.Equal(oidPBKDF2):
		return readPBKDF2(kdf.Parameters.FullBytes, length)
	case kdf.Algorithm.Equal(oidScrypt):
		return readScrypt(kdf.Parameters.FullBytes)
	}
	return nil, refusedEncryption("the key derivation must be PBKDF2 or scrypt")
}

func readPBKDF2(der []byte, length int) (deriving, error) {
	var p struct {
		Salt       []byte
		Iterations int
		KeyLength  int                      `asn1:"optional"`
		PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
	}
	if _, err := asn1.Unmarshal(der, &p); err != nil {
		return nil, refusedEncryption("the PBKDF2 parameters are damaged")
	}
	if p.KeyLength != 0 && p.KeyLength != length {
		return nil, refusedEncryption("the PBKDF2 key length is not that of the cipher")
	}
	newHash := hashes[p.PRF.Algorithm.String()]
	if newHash == nil {
		return nil, refusedEncryption("the PBKDF2 function must be HMAC with SHA-1 or SHA-2")
	}
	size := newHash().Size()
	if most := maxHashes / ((length + size - 1) / size); p.Iterations < 1 || p.Iterations > most {
		return nil, refusedEncryption(fmt.Sprintf("%d PBKDF2 iterations are outside 1 to %d; %s", p.Iterations, most,
			encryptAgain))
	}
	return func(passphrase []byte, length int) ([]byte, error) {
		return pbkdf2.Key(newHash, string(passphrase), p.Salt, p.Iterations, length)
	}, nil
}

func readScrypt(der []byte) (deriving, error) {
	var p struct {
		Salt            []byte
		Cost            int
		BlockSize       int
		Parallelization int
		KeyLength       int `asn1:"optional"`
	}
	if _, err := asn1.Unmarshal(der, &p); err != nil {
		return nil, refusedEncryption("the scrypt parameters are damaged")
	}
	if p.Cost < 2 || p.Cost&(p.Cost-1) != 0 || p.BlockSize < 1 || p.Parallelization < 1 {
		return nil, refusedEncryption("the scrypt parameters are not valid")
	}
	if len(p.Salt) > maxScryptSalt {
		return nil, refusedEncryption(fmt.Sprintf(
			"a scrypt salt of %d bytes is too much work: it may have up to %d; %s",
			len(p.Salt), maxScryptSalt, encryptAgain))
	}
	// A division, because their product can overflow.
	if p.Parallelization > maxScryptLanes || p.BlockSize > min(maxScryptMix, maxScryptWork/p.Cost)/p.Parallelization {
		return nil, refusedEncryption(fmt.Sprintf("scrypt with N=%d, r=%d and p=%d is too much work: "+
			"N*r*p may be up to %d, r*p up to %d, and p up to %d; %s",
			p.Cost, p.BlockSize, p.Parallelization, maxScryptWork, maxScryptMix, maxScryptLanes, encryptAgain))
	}
	return func(passphrase []byte, length int) ([]byte, error) {
		if fips140.Enforced() { // where package scrypt panics
			return nil, errors.New("scrypt is not allowed under FIPS 140")
		}
		return scrypt.Key(passphrase, p.Salt, p.Cost, p.BlockSize, p.Parallelization, length)
	}, nil
}

// encryptAgain says how to repair a file that asks for too much work.
const encryptAgain = `decrypt the file with the tool that wrote it, ` +
	`and encrypt it again with "openssl pkcs8 -topk8 -iter 600000"`

func refusedEncryption(reason string) error {
	return &KeyRefused{Kind: "encrypted PKCS #8", Reason: reason}
}
