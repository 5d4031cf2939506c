package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"
)

// tokens are what a form must bring back. A token is of one person, one payment as the page showed it, and one time: a
// page of another site cannot know it, and a page of yesterday has none that is valid.
type tokens struct {
	secret []byte
	now    func() time.Time
}

// tokenLasts is how long a page can be open before its form is refused.
const tokenLasts = 30 * time.Minute

var (
	errToken   = errors.New("this form is not one of a page that you opened: open the payment and decide there")
	errExpired = errors.New("this page was open for more than half an hour: open the payment and decide there")
)

// issue returns the token of a form. subject is what the form is about, part by part.
func (t tokens) issue(author string, subject ...string) string {
	ends := binary.BigEndian.AppendUint64(nil, uint64(t.now().Add(tokenLasts).Unix())) //gosec:disable G115 -- a time
	return base64.RawURLEncoding.EncodeToString(append(ends, t.sign(ends, author, subject)...))
}

// check returns an error for a token that was not issued to this person for this subject, or has expired.
func (t tokens) check(token, author string, subject ...string) error {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) != 8+sha256.Size {
		return errToken
	}
	ends, mac := raw[:8], raw[8:]
	if !hmac.Equal(mac, t.sign(ends, author, subject)) {
		return errToken
	}
	if t.now().Unix() > int64(binary.BigEndian.Uint64(ends)) { //gosec:disable G115 -- it was signed
		return errExpired
	}
	return nil
}

// sign writes each part with its length, so that no two lists of parts are the same text.
func (t tokens) sign(ends []byte, author string, subject []string) []byte {
	mac := hmac.New(sha256.New, t.secret)
	mac.Write(ends)
	for _, part := range append([]string{"moneymovement console", author}, subject...) {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write([]byte(part))
	}
	return mac.Sum(nil)
}
