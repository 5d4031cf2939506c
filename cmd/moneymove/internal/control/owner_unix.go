//go:build unix

package control

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// ownFolder refuses a folder that others can write to: they could put their own key in the place of the host's. A
// folder of root may let a group write, as the volumes of containers do: only root chooses who is in it.
func ownFolder(flag, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is made, for the owner alone
	}
	if err != nil {
		return err
	}
	owner := uint32(os.Geteuid()) //gosec:disable G115 -- the number of a user
	if status, is := info.Sys().(*syscall.Stat_t); is {
		owner = status.Uid
	}
	own, others := owner == uint32(os.Geteuid()), info.Mode().Perm()&0o022 //gosec:disable G115 -- as above
	if owner == 0 && !own {
		others &= 0o002
	}
	if others != 0 || !own && owner != 0 {
		return app.Usagef("%s: others can write to %s: name a folder of your own, or take their right away with chmod "+
			"go-w", flag, path)
	}
	return nil
}
