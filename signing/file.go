package signing

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"github.com/youmark/pkcs8"

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
