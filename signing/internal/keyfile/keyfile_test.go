package keyfile

import (
	"bytes"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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

	there, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, there, 1, "nothing else with the key in it")
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
	const most = 65_536
	require.NoError(t, os.WriteFile(path, make([]byte, most), 0o600))
	data, err := Read(path)
	require.NoError(t, err)
	assert.Len(t, data, most)

	require.NoError(t, os.WriteFile(path, make([]byte, most+1), 0o600))
	_, err = Read(path)
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, "read "+path)
	_, err = Read(filepath.Dir(path))
	require.Error(t, err, "a directory")
	_, err = Read(path + ".none")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestCreateNeverOverwrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(path, []byte("another"), 0o600))
	err := Create(path, "PRIVATE KEY", []byte{0x30, 0x00})
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorContains(t, err, "create "+path, "the caller's file, and no temporary one")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "another", string(data))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 1, "what was begun is gone")
	err = Create(filepath.Join(t.TempDir(), "none", "key.pem"), "PRIVATE KEY", []byte{0x30, 0x00})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, nothingLinked := errors.AsType[*fs.PathError](err)
	require.True(t, nothingLinked, "%v", err)
	assert.ErrorContains(t, err, ".key-", "a name that tells what was to be there for a moment")
}

// File systems without hard links are rare, so that one is played here.
func TestCreateWithoutHardLinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	none := func(string, string) error { return &os.LinkError{Op: "link", Err: syscall.EPERM} }
	require.NoError(t, create(path, []byte("key"), none))
	require.ErrorIs(t, create(path, []byte("another"), none), fs.ErrExist)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "key", string(data))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 1, "what was begun is gone")

	// Somebody else is quicker, in either way.
	quicker := func(link func(string, string) error) func(string, string) error {
		return func(temporary, path string) error {
			assert.NoError(t, os.WriteFile(path, []byte("theirs"), 0o600))
			return link(temporary, path)
		}
	}
	for name, link := range map[string]func(string, string) error{"with links": os.Link, "without links": none} {
		path := filepath.Join(t.TempDir(), "key.pem")
		require.ErrorIs(t, create(path, []byte("mine"), quicker(link)), fs.ErrExist, name)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, "theirs", string(data), name)
	}
}

// What was not written whole is reported, and the file is closed in any case.
func TestWriteAndClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, writeAndClose(file, []byte("key")))
	require.ErrorIs(t, file.Close(), fs.ErrClosed)

	readOnly, err := os.Open(path)
	require.NoError(t, err)
	require.ErrorContains(t, writeAndClose(readOnly, []byte("key")), "write key file: ")
	require.ErrorIs(t, readOnly.Close(), fs.ErrClosed)
	require.ErrorIs(t, writeAndClose(readOnly, []byte("key")), fs.ErrClosed)
}

// recorder is a file on a disk that fails in one step.
type recorder struct {
	steps []string
	fails string
}

var errDisk = errors.New("input/output error")

func (r *recorder) step(name string) error {
	r.steps = append(r.steps, name)
	if name == r.fails {
		return errDisk
	}
	return nil
}

func (r *recorder) Write(data []byte) (int, error) { return len(data), r.step("write") }
func (r *recorder) Sync() error                    { return r.step("sync") }
func (r *recorder) Close() error                   { return r.step("close") }

// A key is on disk before anybody is told that it is saved.
func TestKeyFileIsSyncedBeforeItIsSaved(t *testing.T) {
	for fails, steps := range map[string][]string{
		"": {"write", "sync", "close"}, "write": {"write", "close"}, "sync": {"write", "sync", "close"},
		"close": {"write", "sync", "close"},
	} {
		file := &recorder{fails: fails}
		err := writeAndClose(file, []byte("key"))
		assert.Equal(t, steps, file.steps)
		assert.Equal(t, fails != "", errors.Is(err, errDisk), "%q: %v", fails, err)
	}
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

func TestUnsupportedHardLinksAreRecognized(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, errors.ErrUnsupported: true, syscall.EPERM: true, fs.ErrExist: false, syscall.ENOSPC: false,
	} {
		if err != nil {
			err = &os.LinkError{Op: "link", Err: err}
		}
		assert.Equal(t, want, noLinks(err), "%v", err)
	}
}

func TestDecode(t *testing.T) {
	inPEM := func(kind string) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte{0x30, 0x00}}) }
	legacy := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Headers: map[string]string{"DEK-Info": "x"},
		Bytes: []byte{0x30, 0x00}})
	largest := append([]byte{0x04, 0x82, 0xff, 0xfc}, make([]byte, 65_532)...)
	for name, test := range map[string]struct {
		data      []byte
		malformed *Malformed
	}{
		"DER":               {[]byte{0x30, 0x00}, nil},
		"PKCS #8":           {inPEM("PRIVATE KEY"), nil},
		"encrypted PKCS #8": {inPEM("ENCRYPTED PRIVATE KEY"), nil},
		"SEC 1":             {inPEM("EC PRIVATE KEY"), nil},
		"PKCS #1":           {inPEM("RSA PRIVATE KEY"), nil},
		"what surrounds it": {slices.Concat(inPEM("EC PARAMETERS"), inPEM("PRIVATE KEY"), inPEM("CERTIFICATE")),
			nil},
		"the largest": {largest, nil},
		"too large": {append(largest, 0),
			&Malformed{Reason: "the data has 65537 bytes, which is too long for a key"}},
		"DER and more": {[]byte{0x30, 0x00, 0x00},
			&Malformed{Reason: "the data is neither PEM nor exactly one DER value"}},
		"two keys": {slices.Concat(inPEM("PRIVATE KEY"), inPEM("PRIVATE KEY")),
			&Malformed{Reason: "the data has more than one private key"}},
		"another kind": {inPEM("CERTIFICATE"), &Malformed{"CERTIFICATE", "the data has no private key"}},
		"OpenSSH's": {inPEM("OPENSSH PRIVATE KEY"),
			&Malformed{"OPENSSH PRIVATE KEY",
				`OpenSSH's own format is not supported; convert it with "ssh-keygen -p -m PKCS8"`}},
		"legacy encryption": {legacy,
			&Malformed{"EC PRIVATE KEY",
				`legacy PEM encryption is not supported; convert it with "openssl pkcs8 -topk8"`}},
		"PEM that is cut off": {[]byte("-----BEGIN NOTHING"), &Malformed{Reason: "the PEM data is damaged"}},
		"nothing":             {nil, &Malformed{Reason: "the data is neither PEM nor exactly one DER value"}},
		"a damaged key in PEM": {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte{0x30}}),
			&Malformed{Reason: "the data is neither PEM nor exactly one DER value"}},
	} {
		t.Run(name, func(t *testing.T) {
			der, malformed := Decode(test.data)
			require.Equal(t, test.malformed, malformed)
			switch {
			case malformed != nil:
				assert.Nil(t, der)
				assert.EqualError(t, malformed, test.malformed.Reason)
			case name == "the largest":
				assert.Equal(t, largest, der)
			default:
				assert.Equal(t, []byte{0x30, 0x00}, der)
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"EC PRIVATE KEY":               "EC PRIVATE KEY",
		"a\r\nb\x1b[31m\u2028c":        "a  b [31m c",
		"\u202e\xff":                   " �",
		strings.Repeat("é", 100):       strings.Repeat("é", 100),
		strings.Repeat("é", 101):       strings.Repeat("é", 100) + "…",
		"a" + strings.Repeat("é", 101): "a" + strings.Repeat("é", 99) + "…",
	} {
		assert.Equal(t, want, OneLine(text))
	}
}

// FuzzDecode: what is taken for a key is one whole DER value that stands in the data, and what is refused is *Malformed
// and quotes none of it.
func FuzzDecode(f *testing.F) {
	der := []byte{0x30, 0x03, 0x02, 0x01, 0x00}
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	for _, data := range []string{
		key, string(der), "", key + key, "subject=a\n" + key + "after", strings.ReplaceAll(key, "\n", "\r\n"),
		strings.ReplaceAll(key, "PRIVATE", "EC PRIVATE"), strings.ReplaceAll(key, "PRIVATE", "ENCRYPTED PRIVATE"),
		strings.ReplaceAll(key, "PRIVATE", "OPENSSH PRIVATE"), strings.ReplaceAll(key, "PRIVATE", "PUBLIC"),
		"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n" + key,
		"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n" +
			"\nMAMCAQA=\n-----END RSA PRIVATE KEY-----\n",
		"-----BEGIN NOTHING",
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		der, err := Decode(data)
		if err != nil {
			malformed, ok := errors.AsType[*Malformed](err)
			switch {
			case der != nil || !ok:
				t.Fatalf("%d bytes beside %v", len(der), err)
			case len(malformed.Reason) > 200 || len(malformed.Kind) > 0 &&
				!bytes.Contains(data, []byte(malformed.Kind)):
				t.Fatalf("%q of %q", malformed.Reason, malformed.Kind)
			case len(malformed.Kind) == 0 && len(data) >= 16 && strings.Contains(err.Error(), string(data)):
				t.Fatalf("%q is quoted", data)
			}
			return
		}
		if len(data) > MaxSize {
			t.Fatalf("%d bytes were read", len(data))
		}
		var whole asn1.RawValue
		if rest, err := asn1.Unmarshal(der, &whole); err != nil || len(rest) > 0 {
			t.Fatalf("%x is not one DER value", der)
		}
		if again, err := Decode(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})); err != nil ||
			!bytes.Equal(again, der) {
			if !bytes.Contains(der, []byte("-----BEGIN ")) && len(der) < MaxSize/2 {
				t.Fatalf("%x is %x in PEM: %v", der, again, err)
			}
		}
	})
}
