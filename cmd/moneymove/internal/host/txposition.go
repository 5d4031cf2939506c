package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

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

func (k *positionKeeper) save() error {
	if k.path == "" || k.unsaved == 0 {
		return k.failed
	}
	text, err := json.Marshal(k.position)
	if err != nil {
		return err
	}
	if err := app.ReplaceFile(k.path, append(text, '\n')); err != nil {
		return fmt.Errorf("the position is not kept: %w", err)
	}
	k.unsaved, k.failed = 0, nil
	return nil
}
