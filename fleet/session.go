package fleet

import (
	"crypto/cipher"
	"crypto/rand"
	"errors"

	"github.com/moneymovement/moneymovement-go/dapi"
)

var errSealed = errors.New("the stored session cannot be decrypted: it was stored with another key, for another " +
	"credential, or not encrypted; the next login replaces it")

// SealSession returns the bytes of a session for a store, encrypted if aead is not nil. They belong to the credential:
// under another name they cannot be opened. Without encryption they are as secret as a password.
func SealSession(session dapi.Session, aead cipher.AEAD, credential string) ([]byte, error) {
	data, err := session.Export()
	if err != nil || aead == nil {
		return data, err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(data)+aead.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return aead.Seal(nonce, nonce, data, []byte(credential)), nil
}

// OpenSession reads the bytes of [SealSession]. Its errors do not show the bytes. If it fails, a [dapi.TokenStore]
// should return the zero session and no error: the next login then stores a new session.
func OpenSession(data []byte, aead cipher.AEAD, credential string) (dapi.Session, error) {
	if aead == nil {
		return dapi.ImportSession(data)
	}
	if len(data) < aead.NonceSize() {
		return dapi.Session{}, errSealed
	}
	data, err := aead.Open(nil, data[:aead.NonceSize()], data[aead.NonceSize():], []byte(credential))
	if err != nil {
		return dapi.Session{}, errSealed
	}
	return dapi.ImportSession(data)
}
