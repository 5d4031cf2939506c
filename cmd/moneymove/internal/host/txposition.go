package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// positionKeeper keeps the position of a ledger in a file. Without a file it keeps nothing.
type positionKeeper struct {
	path     string
	position dapi.LedgerPosition
	found    bool  // the file had a position
	unsaved  int   // changes since the last save
	failed   error // of a save that nobody could be told of
}

// saveEvery is how many changes of one read of the ledger are shown before the position is saved. A save takes a few
// milliseconds, and after a crash so many changes are shown again at most.
const saveEvery = 100

func openPosition(path string) (*positionKeeper, error) {
	k := &positionKeeper{path: path}
	if path == "" {
		return k, nil
	}
	text, err := os.ReadFile(path) //gosec:disable G304 -- the user of the command names the file
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, fmt.Errorf("-position: %w", err)
	}
	if err := json.Unmarshal(text, &k.position); err != nil {
		return nil, app.Usagef("-position: %s does not hold a position of a ledger: name another file, or remove "+
			"it: %w", path, err)
	}
	k.found = true
	return k, nil
}

// note takes the position after a change that was shown.
func (k *positionKeeper) note(position dapi.LedgerPosition) error {
	k.position = position
	if k.unsaved++; k.unsaved >= saveEvery {
		return k.save()
	}
	return k.failed
}

// saveLater saves, and note or save returns the error.
func (k *positionKeeper) saveLater() { k.failed = k.save() }

// save replaces the file as a whole: a reader finds the old position or the new one, also after a crash.
func (k *positionKeeper) save() error {
	if k.path == "" || k.unsaved == 0 {
		return k.failed
	}
	text, err := json.Marshal(k.position)
	if err != nil {
		return err
	}
	if err := replaceFile(k.path, append(text, '\n')); err != nil {
		return fmt.Errorf("the position is not kept: %w", err)
	}
	k.unsaved, k.failed = 0, nil
	return nil
}

// replaceFile writes a file that only its owner can read, and puts it in the place of an earlier one.
func replaceFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".position-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
