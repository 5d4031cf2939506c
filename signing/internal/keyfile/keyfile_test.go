package keyfile

import (
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCreateAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	der := []byte{0x30, 0x00}
	require.NoError(t, Create(path, "PRIVATE KEY", der))
	assert.Equal(t, []byte{0, 0}, der, "the caller's copy is cleared")

	data, err := Read(path)
	require.NoError(t, err)
	block, rest := pem.Decode(data)
	require.NotNil(t, block)
	assert.Equal(t, "PRIVATE KEY", block.Type)
	assert.Equal(t, []byte{0x30, 0x00}, block.Bytes)
	assert.Empty(t, rest)
}

func TestReadBoundsFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(path, make([]byte, MaxSize), 0o600))
	data, err := Read(path)
	require.NoError(t, err)
	assert.Len(t, data, MaxSize)

	require.NoError(t, os.WriteFile(path, make([]byte, MaxSize+1), 0o600))
	_, err = Read(path)
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = Read(filepath.Dir(path))
	require.Error(t, err, "a directory")
}

// File systems without hard links are rare, so that what serves them is called here.
func TestCreateExclusively(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, createExclusively(path, []byte("key")))
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // which has no such modes
		assert.Equal(t, fs.FileMode(0o600), info.Mode())
	}
	require.ErrorIs(t, createExclusively(path, []byte("another")), fs.ErrExist)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "key", string(data))
}

func TestNoLinks(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, errors.ErrUnsupported: true, syscall.EPERM: true, fs.ErrExist: false, syscall.ENOSPC: false,
	} {
		if err != nil {
			err = &os.LinkError{Op: "link", Err: err}
		}
		assert.Equal(t, want, noLinks(err), "%v", err)
	}
}

func TestMalformedExplainsItself(t *testing.T) {
	_, err := Decode([]byte("-----BEGIN NOTHING"))
	require.EqualError(t, err, "the PEM data is damaged")
}
