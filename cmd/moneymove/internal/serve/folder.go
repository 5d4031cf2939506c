package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/sandbox/bolt"
	"github.com/moneymovement/moneymovement-go/signing"
)

// The files of a folder of -data. The state is in the first one, the credentials as well. The host writes the others
// from it, for its callers.
const (
	stateFile       = "host.db"
	developerFile   = "developer.pem"
	walletFile      = "wallet.pem"
	apiKeyFile      = "api-key"
	accessTokenFile = "access-token"
)

// folder is where a host keeps its state and its credentials. Only its owner can read it.
type folder struct {
	path      string
	temporary bool // it is removed at the end, and keeps no state
	kept      *bolt.Store
}

// openFolder opens the folder of -data. It makes the folder if it does not exist. If path is empty, it makes a
// temporary folder.
func openFolder(path string) (*folder, error) {
	if path == "" {
		made, err := os.MkdirTemp("", "moneymove-")
		return &folder{path: made, temporary: true}, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, app.Usagef("-data: %w", err)
	}
	info, err := os.Stat(absolute)
	switch {
	case err == nil && !info.IsDir():
		return nil, app.Usagef("-data: %s is a file: name a folder", absolute)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, app.Usagef("-data: %w", err)
	}
	if err := ownFolder("-data", absolute); err != nil {
		return nil, err
	}
	kept, err := bolt.Open(filepath.Join(absolute, stateFile)) // which makes the folder
	if _, busy := errors.AsType[*bolt.InUse](err); busy {
		return nil, fmt.Errorf("-data: another process serves a host from %s: stop it, or name another folder",
			absolute)
	}
	return &folder{path: absolute, kept: kept}, err
}

// save writes the credentials to files, for callers. withKey says that the developer key is in no other file.
func (f *folder) save(own sandbox.Credentials, withKey bool) error {
	purse, err := own.Wallet.PEM()
	if err != nil {
		return err
	}
	files := map[string][]byte{walletFile: purse}
	if withKey {
		if files[developerFile], err = own.Key.PEM(); err != nil {
			return err
		}
	}
	if !f.temporary {
		files[apiKeyFile] = []byte(own.APIKey.Reveal() + "\n")
		files[accessTokenFile] = []byte(own.AccessToken.Reveal() + "\n")
	}
	for name, content := range files {
		if err := app.ReplaceFile(f.file(name), content); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) file(name string) string { return filepath.Join(f.path, name) }

// close closes the state, or removes the folder if it is temporary.
func (f *folder) close() error {
	if f.temporary {
		return os.RemoveAll(f.path)
	}
	return f.kept.Close()
}

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
