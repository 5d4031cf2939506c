//go:build unix

package bolt

import (
	"errors"
	"fmt"
	"os"
)

// syncFolder makes a new file's name last. A folder of some file systems cannot be synced; they need none.
func syncFolder(path string) error {
	folder, err := os.Open(path) //gosec:disable G304 -- the caller's own path
	if err != nil {
		return fmt.Errorf("bolt: %w", err)
	}
	_ = folder.Sync()
	return errors.Join(folder.Close())
}
