package keys_test

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/keys"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// shell runs the commands in a folder.
type shell struct {
	*testing.T
	folder, stdin string
	terminal      bool
}

func newShell(t *testing.T) *shell { return &shell{T: t, folder: t.TempDir()} }

func (s *shell) path(name string) string { return filepath.Join(s.folder, name) }

func (s *shell) run(args ...string) (code int, stdout, stderr string) {
	s.Helper()
	var out, err bytes.Buffer
	a := &app.App{In: strings.NewReader(s.stdin), Out: &out, Err: &err, Terminal: s.terminal,
		Getenv: func(string) string { return "" }}
	root := &cobra.Command{Use: "moneymove"}
	group := &cobra.Command{Use: "keys"}
	group.AddCommand(keys.Commands(a)...)
	root.AddCommand(group)
	code = a.Run(s.Context(), root, append([]string{"keys"}, args...))
	return code, out.String(), err.String()
}

// shown is what a command prints of a key.
type shown struct {
	File, Algorithm, PublicKey, Fingerprint, Address string
	Encrypted, PrivateHalf                           bool
}

// ok runs a command that must succeed.
func (s *shell) ok(args ...string) (key shown) {
	s.Helper()
	code, stdout, stderr := s.run(args...)
	require.Equal(s, app.ExitFine, code, stderr)
	assert.Empty(s, stderr)
	decoder := json.NewDecoder(strings.NewReader(stdout))
	decoder.DisallowUnknownFields()
	require.NoError(s, decoder.Decode(&key))
	return key
}

// refused runs a command that must be refused before anything is written.
func (s *shell) refused(says string, args ...string) {
	s.Helper()
	before, err := os.ReadDir(s.folder)
	require.NoError(s, err)
	code, stdout, stderr := s.run(args...)
	assert.Equal(s, app.ExitUsage, code, stderr)
	assert.Empty(s, stdout)
	assert.Contains(s, stderr, says)
	after, err := os.ReadDir(s.folder)
	require.NoError(s, err)
	assert.Len(s, after, len(before), "nothing was written")
}

func (s *shell) write(name, content string) string {
	s.Helper()
	require.NoError(s, os.WriteFile(s.path(name), []byte(content), 0o600))
	return s.path(name)
}

func (s *shell) block(path string) *pem.Block {
	s.Helper()
	content, err := os.ReadFile(path)
	require.NoError(s, err)
	block, rest := pem.Decode(content)
	require.NotNil(s, block)
	assert.Empty(s, rest)
	return block
}

func TestNewMakesAKeyOfEachType(t *testing.T) {
	for kind, algorithm := range map[string]signing.Algorithm{
		"p256": signing.ECDSAP256SHA256, "ed25519": signing.Ed25519, "rsa2048": signing.RSAPKCS1v15SHA256,
		"secp256k1": signing.ECDSASecp256k1SHA256,
	} {
		t.Run(kind, func(t *testing.T) {
			s := newShell(t)
			path := s.path("key.pem")
			made := s.ok("new", path, "-type", kind)
			assert.Equal(t, string(algorithm), made.Algorithm)
			assert.True(t, made.PrivateHalf)
			assert.False(t, made.Encrypted)
			info, err := os.Stat(path)
			require.NoError(t, err)
			if runtime.GOOS != "windows" { // which has no such modes
				assert.Equal(t, os.FileMode(0o600), info.Mode())
			}
			assert.Equal(t, made, s.ok("show", path))
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			if kind == "secp256k1" {
				key, err := wallet.LoadKey(path)
				require.NoError(t, err)
				assert.Equal(t, key.Address(), made.Address)
			} else {
				key, err := signing.LoadDeveloperKey(path)
				require.NoError(t, err)
				assert.Equal(t, key.PublicKeyBase64(), made.PublicKey)
				assert.Equal(t, key.Fingerprint(), made.Fingerprint)
				assert.Empty(t, made.Address)
			}
			s.stdin = string(content)
			fromInput := s.ok("show", "-")
			assert.Equal(t, made.PublicKey, fromInput.PublicKey)

			s.refused("never overwritten", "new", path)
			again, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, content, again)
		})
	}
}

func TestNewEncrypts(t *testing.T) {
	s := newShell(t)
	path, passphrase := s.path("key.pem"), s.write("passphrase", " with spaces \nnot this\n")
	made := s.ok("new", path, "-type", "ed25519", "-passphrase-file", passphrase)
	assert.True(t, made.Encrypted)
	key, err := signing.LoadEncryptedDeveloperKey(path, []byte(" with spaces "))
	require.NoError(t, err)
	assert.Equal(t, key.Fingerprint(), made.Fingerprint)

	assert.Equal(t, made, s.ok("show", path, "-passphrase-file", passphrase))
	s.refused("-passphrase-file", "show", path)
	s.refused("passphrase", "show", path, "-passphrase-file", s.write("wrong", "wrong\n"))
	s.refused("is empty", "new", s.path("other.pem"), "-passphrase-file", s.write("empty", "\n"))
	s.refused("cannot be written with a passphrase", "new", s.path("other.pem"), "-type", "secp256k1",
		"-passphrase-file", passphrase)
	s.stdin = "from input\n"
	s.ok("new", s.path("third.pem"), "-passphrase-file", "-")
	_, err = signing.LoadEncryptedDeveloperKey(s.path("third.pem"), []byte("from input"))
	assert.NoError(t, err)
}

func TestNewNamesNextStep(t *testing.T) {
	s := newShell(t)
	s.terminal = true
	passphrase := s.write("passphrase", "a\n")
	for name, c := range map[string]struct {
		args []string
		next string
	}{
		"plain": {nil, "moneymove keys register %s\n"},
		"encrypted": {[]string{"-passphrase-file", passphrase},
			"moneymove keys convert %[1]s %[1]s.pub -public -passphrase-file FILE\n"},
		"wallet": {[]string{"-type", "secp256k1"}, "moneymove keys convert %[1]s %[1]s.pub -public\n" +
			"  moneymove keys register %[1]s.pub\n"},
	} {
		path := s.path(name + ".pem")
		code, stdout, stderr := s.run(append([]string{"new", path}, c.args...)...)
		assert.Equal(t, app.ExitFine, code, stderr)
		assert.Contains(t, stdout, "fingerprint")
		assert.Contains(t, stderr, fmt.Sprintf(c.next, path), name)
	}
}

func TestConvert(t *testing.T) {
	s := newShell(t)
	passphrase := s.write("passphrase", "correct horse\n")
	for _, c := range []struct{ kind, form, block string }{
		{"p256", "sec1", "EC PRIVATE KEY"}, {"rsa2048", "pkcs1", "RSA PRIVATE KEY"},
		{"ed25519", "pkcs8", "PRIVATE KEY"},
		{"secp256k1", "pkcs8", "PRIVATE KEY"},
	} {
		first, second, third := s.path(c.kind+"1.pem"), s.path(c.kind+"2.pem"), s.path(c.kind+"3.pem")
		made := s.ok("new", first, "-type", c.kind)
		converted := s.ok("convert", first, second, "-form", c.form)
		assert.Equal(t, c.block, s.block(second).Type)
		assert.Equal(t, made.Fingerprint, converted.Fingerprint)
		back := s.ok("convert", second, third)
		assert.Equal(t, "PRIVATE KEY", s.block(third).Type)
		assert.Equal(t, made.Fingerprint, back.Fingerprint)
		assert.Equal(t, made.Fingerprint, s.ok("show", third).Fingerprint)

		public := s.path(c.kind + ".pub")
		half := s.ok("convert", first, public, "-public")
		assert.False(t, half.PrivateHalf)
		block := s.block(public)
		assert.Equal(t, "PUBLIC KEY", block.Type)
		if c.kind != "secp256k1" {
			_, err := x509.ParsePKIXPublicKey(block.Bytes)
			assert.NoError(t, err)
			encrypted, plain := s.path(c.kind+"4.pem"), s.path(c.kind+"5.pem")
			assert.True(t, s.ok("convert", first, encrypted, "-new-passphrase-file", passphrase).Encrypted)
			assert.Equal(t, "ENCRYPTED PRIVATE KEY", s.block(encrypted).Type)
			assert.False(t, s.ok("convert", encrypted, plain, "-passphrase-file", passphrase).Encrypted)
			assert.Equal(t, made.Fingerprint, s.ok("show", plain).Fingerprint)
		}
	}
}

func TestKeysRefusals(t *testing.T) {
	s := newShell(t)
	passphrase := s.write("passphrase", "correct horse\n")
	ed25519, secp256k1 := s.path("ed25519.pem"), s.path("secp256k1.pem")
	s.ok("new", ed25519, "-type", "ed25519")
	s.ok("new", secp256k1, "-type", "secp256k1")
	out := s.path("out.pem")
	s.refused("give p256", "new", out, "-type", "p384")
	s.refused("name a file", "new", "-")
	s.refused("there is no file", "show", out)
	s.refused("neither PEM nor", "show", s.write("text", "hello"))
	s.refused("is not written as sec1", "convert", ed25519, out, "-form", "sec1")
	s.refused("is not written as sec1", "convert", secp256k1, out, "-form", "sec1")
	s.refused("give pkcs8", "convert", ed25519, out, "-form", "jwk")
	s.refused("never overwritten", "convert", ed25519, secp256k1)
	s.refused("never overwritten", "convert", ed25519, secp256k1, "-public")
	s.refused("never encrypted", "convert", ed25519, out, "-form", "sec1", "-new-passphrase-file", passphrase)
	s.refused("leave out -form", "convert", ed25519, out, "-public", "-form", "pkcs8")
	s.refused("name a file as OUT", "convert", ed25519, "-")
	content, err := os.ReadFile(ed25519)
	require.NoError(t, err)
	s.stdin = string(content)
	s.refused("both read standard input", "convert", "-", out, "-new-passphrase-file", "-")
}

// No output shows the private half, in any form.
func TestPrivateHalfIsNotPrinted(t *testing.T) {
	s := newShell(t)
	path := s.path("key.pem")
	for _, terminal := range []bool{false, true} {
		s.terminal = terminal
		out := s.path(fmt.Sprint(terminal))
		for _, args := range [][]string{{"new", path}, {"show", path}, {"convert", path, out}} {
			if args[0] == "new" && terminal {
				continue
			}
			_, stdout, stderr := s.run(args...)
			private := strings.Split(strings.TrimSpace(string(pem.EncodeToMemory(s.block(path)))), "\n")
			for _, line := range private {
				assert.NotContains(t, stdout+stderr, line)
			}
		}
	}
}
