// Package keyfiles reads, writes and converts the files of keys: developer keys of each type that package signing
// supports, and secp256k1 keys of wallets.
package keyfiles

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// Key is a key of either package: *signing.DeveloperKey or *wallet.Key.
type Key interface {
	signing.Signer
	PublicKeyBase64() string
	Algorithm() signing.Algorithm
	Save(path string) error
	PEM() ([]byte, error)
}

// Fingerprint returns "SHA256:" and the hexadecimal SHA-256 digest of the public half.
func Fingerprint(key Key) string { return fmt.Sprintf("SHA256:%x", sha256.Sum256(key.PublicKey())) }

// Address returns the address of a wallet's key, or "" for another key.
func Address(key Key) string {
	if of, ok := key.(*wallet.Key); ok {
		return of.Address()
	}
	return ""
}

// File is the content of a key file.
type File struct {
	Key       Key
	Encrypted bool
}

// Load reads the key in the file that a flag names. An encrypted key needs the passphrase, from the file that
// passphraseFile names; "-" is standard input. A key that is not encrypted needs none, and then none is read.
func Load(a *app.App, flag, path, passphraseFile string) (Key, error) {
	content, err := a.ReadFile(flag, path)
	if err != nil {
		return nil, err
	}
	file, err := open(a, content, passphraseFile)
	if err != nil {
		return nil, app.Usagef("-%s: %s: %w", flag, path, err)
	}
	return file.Key, nil
}

// Open is Load for the file that an argument names.
func Open(a *app.App, path, passphraseFile string) (File, error) {
	content, err := a.ReadArgument("FILE", path)
	if err != nil {
		return File{}, err
	}
	file, err := open(a, content, passphraseFile)
	if err != nil {
		return File{}, app.Usagef("%s: %w", path, err)
	}
	return file, nil
}

// open reads a key, and clears the content.
func open(a *app.App, content []byte, passphraseFile string) (File, error) {
	defer clear(content)
	key, err := parse(content)
	if !errors.Is(err, signing.ErrPassphraseRequired) {
		return File{Key: key}, err
	}
	key, err = decrypted(a, content, passphraseFile)
	return File{Key: key, Encrypted: true}, err
}

// parse reads a key that is not encrypted. Package signing reads all but secp256k1.
func parse(content []byte) (Key, error) {
	developer, err := signing.ParseDeveloperKey(content)
	if err == nil {
		return developer, nil
	}
	if _, refused := errors.AsType[*signing.KeyRefused](err); refused {
		if key, other := wallet.ParseKey(content); other == nil {
			return key, nil
		}
	}
	return nil, err
}

func decrypted(a *app.App, content []byte, passphraseFile string) (Key, error) {
	passphrase, err := Passphrase(a, "passphrase-file", passphraseFile)
	if err != nil {
		return nil, err
	}
	if passphrase == nil {
		return nil, errors.New("the key is encrypted: name the file of its passphrase with -passphrase-file")
	}
	defer clear(passphrase)
	key, err := signing.ParseEncryptedDeveloperKey(content, passphrase)
	if err != nil {
		return nil, err
	}
	return key, nil
}

// Passphrase returns the first line of the file that a flag names, or nil if no file is named. A passphrase can begin
// or end with a space, so only the end of the line is cut off.
func Passphrase(a *app.App, flag, path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	content, err := a.ReadFile(flag, path)
	if err != nil {
		return nil, err
	}
	line, _, _ := bytes.Cut(content, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 {
		return nil, app.Usagef("-%s: the first line of %s is empty", flag, path)
	}
	return line, nil
}
