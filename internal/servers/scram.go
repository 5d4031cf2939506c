package servers

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// scramName is how PostgreSQL logs in since version 14: RFC 7677, without channel binding.
const scramName = "SCRAM-SHA-256"

// scram is the client's side of one login.
type scram struct {
	password  string
	nonce     string
	bare      string // the first message without its header
	signature []byte // of the server, which it must send at the end
}

// noBinding says that the connection has no TLS to bind the login to; "biws" is its base64.
const noBinding = "n,,"

func (s *scram) first() string {
	s.nonce = rand.Text()
	s.bare = "n=,r=" + s.nonce // the name of the user is in the message before
	return noBinding + s.bare
}

// final proves that the client knows the password, without sending it.
func (s *scram) final(challenge string) ([]byte, error) {
	fields := attributes(challenge)
	salt, errSalt := base64.StdEncoding.DecodeString(fields["s"])
	rounds, errRounds := strconv.Atoi(fields["i"])
	if err := errors.Join(errSalt, errRounds); err != nil {
		return nil, fmt.Errorf("the server's challenge: %w", err)
	}
	if s.nonce == "" || !strings.HasPrefix(fields["r"], s.nonce) || rounds < 1 || rounds > 1_000_000 {
		return nil, errors.New("the server's challenge is not for this login")
	}
	salted, err := pbkdf2.Key(sha256.New, s.password, salt, rounds, sha256.Size)
	if err != nil {
		return nil, err
	}
	without := "c=biws,r=" + fields["r"]
	signed := s.bare + "," + challenge + "," + without
	key := mac(salted, "Client Key")
	stored := sha256.Sum256(key)
	proof := make([]byte, sha256.Size)
	subtle.XORBytes(proof, key, mac(stored[:], signed))
	s.signature = mac(mac(salted, "Server Key"), signed)
	return []byte(without + ",p=" + base64.StdEncoding.EncodeToString(proof)), nil
}

// verify checks that the server knows the password as well.
func (s *scram) verify(last string) error {
	signature, err := base64.StdEncoding.DecodeString(attributes(last)["v"])
	if err != nil || s.signature == nil || !hmac.Equal(signature, s.signature) {
		return errors.New("the server does not know the password")
	}
	return nil
}

func mac(key []byte, text string) []byte {
	hash := hmac.New(sha256.New, key)
	hash.Write([]byte(text))
	return hash.Sum(nil)
}

// attributes reads text such as "r=nonce,s=salt,i=4096".
func attributes(text string) map[string]string {
	found := map[string]string{}
	for field := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(field, "=")
		found[name] = value
	}
	return found
}
