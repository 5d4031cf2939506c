package keyfiles

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/signing"
)

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
