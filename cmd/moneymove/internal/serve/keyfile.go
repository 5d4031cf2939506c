package serve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// keyFile is the developer key of the host, in a file for its callers.
type keyFile struct {
	path      string
	key       *signing.DeveloperKey
	temporary string // the folder to remove at the end
}

// openKeyFile reads the key in the file, or creates the file with a new key. Callers then keep their key from run to
// run. Without a path the file is in a temporary folder.
func openKeyFile(path string) (*keyFile, error) {
	if path == "" {
		folder, err := os.MkdirTemp("", "moneymove-")
		if err != nil {
			return nil, err
		}
		keys := &keyFile{path: filepath.Join(folder, "developer.pem"), temporary: folder}
		if err := keys.generate(); err != nil {
			return nil, errors.Join(err, keys.close())
		}
		return keys, nil
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	keys := &keyFile{path: absolute}
	keys.key, err = signing.LoadDeveloperKey(absolute)
	if errors.Is(err, fs.ErrNotExist) {
		err = keys.generate()
	}
	return keys, err
}

func (k *keyFile) generate() error {
	var err error
	if k.key, err = signing.Generate(); err != nil {
		return err
	}
	return k.key.Save(k.path)
}

// saveWallet writes the wallet that cards spend from to a file in a temporary folder, for callers that reveal a card's
// details. The function remove deletes the folder.
func saveWallet(key *wallet.Key) (path string, remove func() error, err error) {
	folder, err := os.MkdirTemp("", "moneymove-")
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.RemoveAll(folder) }
	path = filepath.Join(folder, "wallet.pem")
	if err := key.Save(path); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return path, remove, nil
}

// close removes the temporary folder.
func (k *keyFile) close() error {
	if k.temporary == "" {
		return nil
	}
	return os.RemoveAll(k.temporary)
}
