package keys

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

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
// passphraseFile names; "-" is standard input. For a plain key, the passphrase is not read.
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

// The forms of key files.
const (
	PKCS8  = "pkcs8"  // all keys; the only form that can be encrypted
	SEC1   = "sec1"   // of OpenSSL: EC PRIVATE KEY
	PKCS1  = "pkcs1"  // of OpenSSL: RSA PRIVATE KEY
	Public = "public" // the public half: PUBLIC KEY
)

// PrivateForms are the forms that hold the private half.
var PrivateForms = []string{PKCS8, SEC1, PKCS1}

// Write writes a key to a new file that only its owner can read. With a passphrase it encrypts the key. It never
// overwrites a file.
func Write(path string, key Key, form string, passphrase []byte) error {
	err := write(path, key, form, passphrase)
	if errors.Is(err, fs.ErrExist) {
		return app.Usagef("%s exists, and a key file is never overwritten: name another file", path)
	}
	return err
}

func write(path string, key Key, form string, passphrase []byte) error {
	if form == PKCS8 && passphrase == nil {
		return key.Save(path)
	}
	if form == PKCS8 {
		return saveEncrypted(path, key, passphrase)
	}
	if passphrase != nil {
		return app.Usagef("the form %s is never encrypted: leave out the passphrase, or use the form %s", form, PKCS8)
	}
	block, err := blockOf(key, form)
	if err != nil {
		return err
	}
	defer clear(block.Bytes)
	text := pem.EncodeToMemory(block)
	defer clear(text)
	return create(path, text)
}

func saveEncrypted(path string, key Key, passphrase []byte) error {
	developer, ok := key.(*signing.DeveloperKey)
	if !ok {
		return app.Usagef("a %s key cannot be written with a passphrase: leave out the passphrase, and keep the file "+
			"where only you can read it", key.Algorithm())
	}
	return developer.SaveEncrypted(path, passphrase)
}

// blockOf returns a key in the form sec1, pkcs1 or public.
func blockOf(key Key, form string) (*pem.Block, error) {
	if form == Public {
		return &pem.Block{Type: "PUBLIC KEY", Bytes: key.PublicKey()}, nil
	}
	text, err := key.PEM()
	if err != nil {
		return nil, err
	}
	defer clear(text)
	pkcs8, _ := pem.Decode(text)
	defer clear(pkcs8.Bytes)
	private, err := x509.ParsePKCS8PrivateKey(pkcs8.Bytes)
	if err != nil { // a curve that crypto/x509 does not know
		return nil, otherForm(key, form)
	}
	switch private := private.(type) {
	case *ecdsa.PrivateKey:
		if form == SEC1 {
			der, err := x509.MarshalECPrivateKey(private)
			return &pem.Block{Type: "EC PRIVATE KEY", Bytes: der}, err
		}
	case *rsa.PrivateKey:
		if form == PKCS1 {
			return &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)}, nil
		}
	}
	return nil, otherForm(key, form)
}

func otherForm(key Key, form string) error {
	for _, known := range PrivateForms {
		if form == known {
			return app.Usagef("a %s key is not written as %s: %s is for P-256 keys, %s for RSA keys, and %s for all",
				key.Algorithm(), form, SEC1, PKCS1, PKCS8)
		}
	}
	return app.Usagef("the form is %q: give %s", form, strings.Join(PrivateForms, ", "))
}

// create writes a new file as a whole, or leaves none.
func create(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //gosec:disable G304 -- the user names it
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("the key was not written: %w", err), os.Remove(path))
	}
	return nil
}

// Types are the types of keys that [Generate] makes, the usual one first.
var Types = []string{"p256", "ed25519", "rsa2048", "secp256k1"}

// rsaBits is the longest RSA key whose public half fits into the confirmation of a payout.
const rsaBits = 2048

// Generate returns a new key of a type.
func Generate(kind string) (Key, error) {
	switch kind {
	case "p256":
		return signing.Generate()
	case "ed25519":
		return signing.GenerateEd25519()
	case "rsa2048":
		return signing.GenerateRSA(rsaBits)
	case "secp256k1":
		return wallet.Generate()
	}
	return nil, fmt.Errorf("the type is %q: give %s", kind, strings.Join(Types, ", "))
}
