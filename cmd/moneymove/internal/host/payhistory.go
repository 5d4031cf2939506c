package host

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// historyFile keeps the history of a key on this machine. It is written before each signature. If the file does not
// exist, no run on this machine has paid.
type historyFile struct {
	path    string
	content []byte // of the file, as this run knows it
	run     string // makes the content of each run different
}

// storedHistory is what the file holds.
type storedHistory struct {
	Key     string       `json:"key"`
	History dapi.History `json:"history"`
	Run     string       `json:"run"`
}

// openHistory reads the history of a key. It makes the folder, because a run that could not write must not look like
// one that has not signed.
func openHistory(scope ...string) (*historyFile, dapi.History, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return nil, dapi.History{}, err
	}
	folder = filepath.Join(folder, "moneymove", "keys")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, dapi.History{}, err
	}
	text, err := codec.Marshal(scope)
	if err != nil {
		return nil, dapi.History{}, err
	}
	sum := sha256.Sum256(text)
	h := &historyFile{path: filepath.Join(folder, hex.EncodeToString(sum[:16])+".json"), run: rand.Text()}
	if h.content, err = h.read(); err != nil || h.content == nil {
		return h, dapi.History{}, err
	}
	var stored storedHistory
	if codec.Unmarshal(h.content, &stored) != nil { // cut off: a run was about to sign
		stored.History = dapi.History{FirstUsed: h.written()}
	}
	stored.History.Quote = nil // each run shows the price
	return h, stored.History, nil
}

// read returns the content of the file, or nil if the file does not exist.
func (h *historyFile) read() ([]byte, error) {
	content, err := os.ReadFile(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

func (h *historyFile) written() time.Time {
	if info, err := os.Stat(h.path); err == nil {
		return info.ModTime()
	}
	return time.Now()
}

var errOtherRun = errors.New("another run is paying with this key")

// unchanged fails if another run has stored a history since this one began.
func (h *historyFile) unchanged() error {
	content, err := h.read()
	if err == nil && !bytes.Equal(content, h.content) {
		return errOtherRun
	}
	return err
}

// store stores the history, unless another run has done so since this one began.
func (h *historyFile) store(key string, history dapi.History) error {
	if err := h.unchanged(); err != nil {
		return err
	}
	text, err := codec.Marshal(storedHistory{key, history, h.run})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	h.content = text
	return errors.Join(err, file.Sync(), file.Close())
}
