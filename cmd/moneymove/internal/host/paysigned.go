package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// signedKey remembers whether a run on this machine has signed for a payment, and for which payout: one file per key.
// It is written before the signature. So if there is none, no run on this machine has paid.
type signedKey struct {
	path    string
	content []byte        // of the file, as this run knows it
	before  signedPayment // what an earlier run has left
}

// signedPayment is what the file holds.
type signedPayment struct {
	Key         string        `json:"key"`
	Payout      dapi.PayoutID `json:"payout"`
	MayHavePaid bool          `json:"mayHavePaid"`
	At          time.Time     `json:"at"` // makes each run's file different
}

// openSignedKey reads what is remembered of a key. It makes the folder, because a run that could not write must not
// look like one that has not signed.
func openSignedKey(scope ...string) (*signedKey, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return nil, err
	}
	folder = filepath.Join(folder, "moneymove", "signed")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	text, err := jsonv2.Marshal(scope)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	s := &signedKey{path: filepath.Join(folder, hex.EncodeToString(sum[:16])+".json")}
	if s.content, err = s.read(); err != nil || s.content == nil {
		return s, err
	}
	if jsonv2.Unmarshal(s.content, &s.before) != nil { // cut off: a run was about to sign
		s.before = signedPayment{MayHavePaid: true}
	}
	return s, nil
}

// read returns the content of the file, nil if there is none.
func (s *signedKey) read() ([]byte, error) {
	content, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// signs remembers that an approval of a payout is about to be signed. It reports whether another run has done so since
// this one began.
func (s *signedKey) signs(key string, payout dapi.PayoutID) (other bool, err error) {
	content, err := s.read()
	if err != nil {
		return false, err
	}
	other = !bytes.Equal(content, s.content)
	return other, s.write(signedPayment{Key: key, Payout: payout, MayHavePaid: true, At: time.Now().UTC()})
}

// unpaid remembers that this run, which has signed, did not pay, and that no other can have paid.
func (s *signedKey) unpaid(key string, payout dapi.PayoutID) error {
	content, err := s.read()
	if err != nil || content == nil || !bytes.Equal(content, s.content) {
		return err // this run has not signed, or another one signs
	}
	return s.write(signedPayment{Key: key, Payout: payout, At: time.Now().UTC()})
}

func (s *signedKey) write(payment signedPayment) error {
	text, err := jsonv2.Marshal(payment)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	s.content = text
	return errors.Join(err, file.Sync(), file.Close())
}
