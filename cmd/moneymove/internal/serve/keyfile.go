package serve

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/moneymovement/moneymovement-go/signing"
)

// keyIn reads the developer key in the file of -key-file, or creates the file with a new key. Callers then keep their
// key from run to run. If path is empty, key is nil.
func keyIn(path string) (absolute string, key *signing.DeveloperKey, err error) {
	if path == "" {
		return "", nil, nil
	}
	if absolute, err = filepath.Abs(path); err != nil {
		return "", nil, err
	}
	key, err = signing.LoadDeveloperKey(absolute)
	if !errors.Is(err, fs.ErrNotExist) {
		return absolute, key, err
	}
	if key, err = signing.Generate(); err != nil {
		return "", nil, err
	}
	return absolute, key, key.Save(absolute)
}
