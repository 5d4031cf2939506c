package fleet

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
)

// Protection says how a session is stored: [Encrypted] or [Unencrypted]. Every token store needs one of them, and
// refuses the zero Protection. It does not print its key.
type Protection struct {
	aead  hidden.Value[cipher.AEAD]
	clear bool
	err   error
}

// Encrypted protects a session with AES-256-GCM. Without the key, nobody can read a stored session, change it, or plant
// one. The key has 32 random bytes, which only the processes of the credential have. With another length, every use of
// the protection fails.
func Encrypted(key []byte) Protection {
	if len(key) != 32 {
		return Protection{err: fmt.Errorf("fleet: the key of a session has %d bytes: take 32 random ones", len(key))}
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return Protection{err: err}
	}
	aead, err := cipher.NewGCM(block)
	return Protection{aead: hidden.Hide(aead), err: err}
}

// Unencrypted stores a session as it is. Whoever can read it can act with it for as long as it lives. Whoever can write
// it can plant a session of their own, with which the processes then act.
func Unencrypted() Protection { return Protection{clear: true} }

// Err returns why the protection cannot be used, or nil.
func (p Protection) Err() error {
	switch {
	case p.err != nil:
		return p.err
	case !p.clear && p.aead.Value() == nil:
		return errors.New("fleet: a token store needs WithEncryption and a key, or WithoutEncryption")
	}
	return nil
}

var errSealed = errors.New("the stored session cannot be decrypted: it was stored with another key, for another " +
	"credential, or not encrypted; the next login replaces it")

// Seal returns the bytes of a session for a store. They belong to the credential: under another name they cannot be
// opened.
func (p Protection) Seal(session dapi.Session, credential string) ([]byte, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	data, err := session.Export()
	if err != nil || p.clear {
		return data, err
	}
	aead := p.aead.Value()
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(data)+aead.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return aead.Seal(nonce, nonce, data, []byte(credential)), nil
}

// Open reads the bytes of [Protection.Seal]. Its errors do not show the bytes. If it fails, a [dapi.TokenStore] should
// return the zero session and no error: the next login then stores a new session.
func (p Protection) Open(data []byte, credential string) (dapi.Session, error) {
	if err := p.Err(); err != nil {
		return dapi.Session{}, err
	}
	if p.clear {
		return dapi.ImportSession(data)
	}
	aead := p.aead.Value()
	if len(data) < aead.NonceSize() {
		return dapi.Session{}, errSealed
	}
	data, err := aead.Open(nil, data[:aead.NonceSize()], data[aead.NonceSize():], []byte(credential))
	if err != nil {
		return dapi.Session{}, errSealed
	}
	return dapi.ImportSession(data)
}
