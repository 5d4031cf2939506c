package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// A small file system that is really full: also the log, the file itself and the memory that SQLite shares are short of
// room.
func TestSmallDiskIsFull(t *testing.T) {
	testkit.Long(t, "fills a disk")
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=5m"); err != nil {
		t.Skipf("needs root, who can mount a small file system: %v; make check as root runs it", err)
	}
	var s *Store
	t.Cleanup(func() {
		if s != nil {
			_ = s.Close()
		}
		assert.NoError(t, syscall.Unmount(folder, 0))
	})
	path := filepath.Join(folder, "p.db")
	b := &books{confirmed: map[moneymovement.Key]int{}}
	ballast := filepath.Join(folder, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 2<<20), 0o600))
	var err error
	s, err = Open(t.Context(), path)
	require.NoError(t, err)
	var full *Full
	paid := 0
	for err = error(nil); err == nil; paid++ {
		err = pay(t, s, b, moneymovement.Key(fmt.Sprintf("w0-%d", paid)))
	}
	require.ErrorAs(t, err, &full)
	require.Greater(t, paid, 10)
	for i := range 20 { // it stays open, and says so each time
		if err := pay(t, s, b, moneymovement.Key(fmt.Sprintf("w1-%d", i))); err != nil {
			require.ErrorAs(t, err, &full)
		}
	}
	require.NoError(t, os.Remove(ballast))
	for i := range 10 {
		require.NoError(t, pay(t, s, b, moneymovement.Key(fmt.Sprintf("w2-%d", i))))
	}
	_, err = s.Check(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Close())
	assert.Empty(t, lost(t, path, b.confirmed))

	// Without any room, it cannot be opened for long, and is not harmed.
	file, err := os.Create(ballast)
	require.NoError(t, err)
	for err == nil {
		_, err = file.Write(make([]byte, 512))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, file.Close())
	if s, err = Open(t.Context(), path); err == nil {
		err = errors.Join(pay(t, s, b, "w3-0"), s.Close())
	}
	require.ErrorAs(t, err, &full)
	require.NoError(t, os.Remove(ballast))
	assert.Empty(t, lost(t, path, b.confirmed))
}
