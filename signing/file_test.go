package signing_test

import (
	"bytes"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
)

func TestSaveAndLoad(t *testing.T) {
	eachKind(t, func(t *testing.T, key *signing.DeveloperKey) {
		path := filepath.Join(t.TempDir(), "developer.pem")
		require.NoError(t, key.Save(path))
		requireOwnerOnly(t, path)

		loaded, err := signing.LoadDeveloperKey(path)
		require.NoError(t, err)
		assert.Equal(t, key.PublicKey(), loaded.PublicKey())
		assert.Equal(t, key.Algorithm(), loaded.Algorithm())
		signature, err := loaded.Sign(t.Context(), []byte("message"))
		require.NoError(t, err)
		require.NoError(t, signing.Verify(key.PublicKey(), []byte("message"), signature))
	})
}

// A secret store takes the text that a file would have.
func TestPEMIsWhatSaveWrites(t *testing.T) {
	eachKind(t, func(t *testing.T, key *signing.DeveloperKey) {
		path := filepath.Join(t.TempDir(), "developer.pem")
		require.NoError(t, key.Save(path))
		written, err := os.ReadFile(path)
		require.NoError(t, err)
		text, err := key.PEM()
		require.NoError(t, err)
		assert.Equal(t, string(written), string(text))
	})
	_, err := new(signing.DeveloperKey).PEM()
	require.ErrorIs(t, err, signing.ErrNoKey)
}

// A guess at the passphrase of a file costs what it should, and no two files share the work.
func TestSavedKeysAreEncryptedWell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "developer.pem")
	require.NoError(t, newKey(t).SaveEncrypted(path, []byte("passphrase")))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	block, _ := pem.Decode(data)
	require.NotNil(t, block)
	var file struct {
		Scheme struct {
			OID        asn1.ObjectIdentifier
			Parameters struct {
				KDF struct {
					OID        asn1.ObjectIdentifier
					Parameters struct {
						Salt       []byte
						Iterations int
						PRF        pkix.AlgorithmIdentifier
					}
				}
				Cipher pkix.AlgorithmIdentifier
			}
		}
		Data []byte
	}
	_, err = asn1.Unmarshal(block.Bytes, &file)
	require.NoError(t, err)
	kdf := file.Scheme.Parameters.KDF
	assert.Equal(t, "1.2.840.113549.1.5.13", file.Scheme.OID.String(), "PBES2")
	assert.Equal(t, "1.2.840.113549.1.5.12", kdf.OID.String(), "PBKDF2")
	assert.Equal(t, "1.2.840.113549.2.9", kdf.Parameters.PRF.Algorithm.String(), "HMAC with SHA-256")
	assert.Equal(t, 600_000, kdf.Parameters.Iterations)
	assert.Len(t, kdf.Parameters.Salt, 16)
	assert.Equal(t, "2.16.840.1.101.3.4.1.42", file.Scheme.Parameters.Cipher.Algorithm.String(), "AES-256 in CBC mode")
}

func TestSaveEncryptedAndLoad(t *testing.T) {
	eachKind(t, func(t *testing.T, key *signing.DeveloperKey) {
		path := filepath.Join(t.TempDir(), "developer.pem")
		require.NoError(t, key.SaveEncrypted(path, []byte("passphrase")))
		requireOwnerOnly(t, path)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		block, _ := pem.Decode(data)
		require.NotNil(t, block)
		assert.Equal(t, "ENCRYPTED PRIVATE KEY", block.Type)

		loaded, err := signing.LoadEncryptedDeveloperKey(path, []byte("passphrase"))
		require.NoError(t, err)
		assert.Equal(t, key.PublicKey(), loaded.PublicKey())
		_, err = signing.LoadDeveloperKey(path)
		require.ErrorIs(t, err, signing.ErrPassphraseRequired)
	})
}

// requireOwnerOnly also proves that nothing else is left in the file's directory.
func requireOwnerOnly(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // which has no such modes
		assert.Equal(t, fs.FileMode(0o600), info.Mode())
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestSaveNeverOverwrites(t *testing.T) {
	key := newKey(t)
	for name, save := range map[string]func(path string) error{
		"plain":     key.Save,
		"encrypted": func(path string) error { return key.SaveEncrypted(path, []byte("passphrase")) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "developer.pem")
			require.NoError(t, os.WriteFile(path, []byte("precious"), 0o644))
			require.ErrorIs(t, save(path), fs.ErrExist)
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, "precious", string(content))
		})
	}
}

func TestSaveDoesNotFollowADanglingLink(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "developer.pem")
	if err := os.Symlink(filepath.Join(directory, "elsewhere"), path); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	require.ErrorIs(t, newKey(t).Save(path), fs.ErrExist)
	assert.NoFileExists(t, filepath.Join(directory, "elsewhere"))
}

func TestOneOfManyConcurrentSavesWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "developer.pem")
	var wg sync.WaitGroup
	saved := make([]bool, 8)
	keys := make([]*signing.DeveloperKey, len(saved))
	for i := range saved {
		keys[i] = newKey(t)
		wg.Go(func() {
			err := keys[i].Save(path)
			saved[i] = err == nil
			if err != nil {
				assert.ErrorIs(t, err, fs.ErrExist)
			}
		})
	}
	wg.Wait()
	requireOwnerOnly(t, path)
	loaded, err := signing.LoadDeveloperKey(path)
	require.NoError(t, err)
	for i, won := range saved {
		assert.Equal(t, won, bytes.Equal(keys[i].PublicKey(), loaded.PublicKey()))
	}
}

func TestSaveEncryptedNeedsAPassphrase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "developer.pem")
	require.ErrorIs(t, newKey(t).SaveEncrypted(path, nil), signing.ErrPassphraseRequired)
	assert.NoFileExists(t, path)
}

func TestSaveIntoNoDirectory(t *testing.T) {
	require.ErrorIs(t, newKey(t).Save(filepath.Join(t.TempDir(), "none", "developer.pem")), fs.ErrNotExist)
}

func TestLoadReportsTheFile(t *testing.T) {
	directory := t.TempDir()
	_, err := signing.LoadDeveloperKey(filepath.Join(directory, "none.pem"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = signing.LoadEncryptedDeveloperKey(filepath.Join(directory, "none.pem"), []byte("p"))
	require.ErrorIs(t, err, fs.ErrNotExist)

	path := filepath.Join(directory, "developer.pem")
	require.NoError(t, os.WriteFile(path, []byte("secret that is no key"), 0o600))
	_, err = signing.LoadDeveloperKey(path)
	_, ok := errors.AsType[*signing.KeyRefused](err)
	require.True(t, ok, "%v", err)
	assert.ErrorContains(t, err, path)
	assert.NotContains(t, err.Error(), "secret")

	require.NoError(t, os.WriteFile(path, make([]byte, 1<<20), 0o600))
	_, err = signing.LoadDeveloperKey(path)
	assert.ErrorContains(t, err, "too large")
}
