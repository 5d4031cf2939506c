package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// packed writes the same files with a time and a mode of their own, and packs them.
func packed(t *testing.T, name string, at time.Time, mode os.FileMode) string {
	t.Helper()
	folder := t.TempDir()
	var files []string
	for _, file := range []string{"moneymove", "LICENSE"} {
		path := filepath.Join(folder, file)
		require.NoError(t, os.WriteFile(path, []byte("content of "+file), mode))
		require.NoError(t, os.Chtimes(path, at, at))
		files = append(files, path)
	}
	archive := filepath.Join(folder, name)
	require.NoError(t, run(append([]string{"-o", archive}, files...)))
	return archive
}

func TestArchiveIsReproducible(t *testing.T) {
	for _, name := range []string{"a.tar.gz", "a.zip"} {
		first, err := os.ReadFile(packed(t, name, time.Now(), 0o600))
		require.NoError(t, err)
		second, err := os.ReadFile(packed(t, name, time.Unix(1e9, 0), 0o755))
		require.NoError(t, err)
		assert.Equal(t, first, second, name)
	}
}

func TestArchivedProgramIsExecutable(t *testing.T) {
	file, err := os.Open(packed(t, "a.tar.gz", time.Now(), 0o600))
	require.NoError(t, err)
	defer file.Close()
	plain, err := gzip.NewReader(file)
	require.NoError(t, err)
	archive := tar.NewReader(plain)
	header, err := archive.Next()
	require.NoError(t, err)
	assert.Equal(t, "moneymove", header.Name)
	assert.EqualValues(t, 0o755, header.Mode)
	assert.Zero(t, header.Uid)
	assert.True(t, header.ModTime.Equal(epoch))
	content, err := io.ReadAll(archive)
	require.NoError(t, err)
	assert.Equal(t, "content of moneymove", string(content))
	header, err = archive.Next()
	require.NoError(t, err)
	assert.EqualValues(t, 0o644, header.Mode)

	zipped, err := zip.OpenReader(packed(t, "a.zip", time.Now(), 0o600))
	require.NoError(t, err)
	defer zipped.Close()
	require.Len(t, zipped.File, 2)
	assert.EqualValues(t, 0o755, zipped.File[0].Mode())
}

func TestSums(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "empty"), nil, 0o600))
	for range 2 { // the second run leaves the sums of the first one out
		require.NoError(t, run([]string{"-sums", folder}))
	}
	written, err := os.ReadFile(filepath.Join(folder, sums))
	require.NoError(t, err)
	assert.Equal(t, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty\n", string(written))
}

func TestWrongCommandLines(t *testing.T) {
	for _, args := range [][]string{nil, {"-o", "a.rar", "a"}, {"-o", "a.zip"}, {"-sums", "a", "b"}} {
		require.ErrorContains(t, run(args), "usage")
	}
	require.Error(t, run([]string{"-o", filepath.Join(t.TempDir(), "a.zip"), "nowhere"}))
}
