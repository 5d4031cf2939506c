// Package keyfile reads key files, and creates key files that only their owner can read.
package keyfile

import (
	"bytes"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
)

// ErrTooLarge means that a file is larger than any key.
var ErrTooLarge = errors.New("the file is too large for a key")

// Read returns the content of the file. If the file is larger than [MaxSize], the error wraps [ErrTooLarge].
func Read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxSize {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	return data, nil
}

// Create writes a PEM block to a new file with mode 0600, and clears der. It never replaces a file: if path exists, the
// error is fs.ErrExist. A reader of path finds no file or the whole file, also after a crash.
func Create(path, blockType string, der []byte) error {
	data := pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: der})
	defer clear(data)
	defer clear(der)
	return create(path, data, os.Link)
}

// create has a parameter to link files, because some file systems do not support links.
func create(path string, data []byte, link func(temporary, path string) error) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	temporary, err := writeTemporary(filepath.Dir(path), data)
	if err != nil {
		return err
	}
	defer os.Remove(temporary)

	// Unlike a rename, a link fails if somebody else has created path in the meantime.
	err = link(temporary, path)
	if noLinks(err) {
		return createExclusively(path, data)
	}
	if err != nil {
		return err
	}
	syncDirectory(filepath.Dir(path))
	return nil
}

// writeTemporary relies on os.CreateTemp's mode, which is 0600.
func writeTemporary(directory string, data []byte) (name string, err error) {
	file, err := os.CreateTemp(directory, ".key-*")
	if err != nil {
		return "", err
	}
	if err := writeAndClose(file, data); err != nil {
		os.Remove(file.Name())
		return "", err
	}
	return file.Name(), nil
}

// createExclusively is for file systems without hard links. A reader can see a part of the file.
func createExclusively(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := writeAndClose(file, data); err != nil {
		os.Remove(path)
		return err
	}
	return nil
}

// durable is a file whose content can be flushed to disk.
type durable interface {
	io.WriteCloser
	Sync() error
}

func writeAndClose(file durable, data []byte) error {
	_, err := file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	return nil
}

// noLinks reports whether err says that the file system does not support links.
func noLinks(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EPERM)
}

// syncDirectory makes the new name survive a crash. It ignores errors: some systems cannot sync a directory, and the
// file itself is saved already.
func syncDirectory(path string) {
	directory, err := os.Open(path)
	if err != nil {
		return
	}
	defer directory.Close()
	_ = directory.Sync()
}

// MaxSize is the largest size of a key file in bytes. An RSA 8192 key in PEM has less than 7 KiB.
const MaxSize = 64 << 10

// Malformed says why the data has no readable private key. It contains nothing of a key.
type Malformed struct {
	Kind   string // the PEM type, if there is one
	Reason string
}

func (e *Malformed) Error() string { return e.Reason }

// Decode returns the DER of the one private key in data, encrypted or not. In PEM, it skips other blocks. Data in DER
// must be exactly one value.
func Decode(data []byte) ([]byte, *Malformed) {
	if len(data) > MaxSize {
		return nil, &Malformed{Reason: fmt.Sprintf("the data has %d bytes, which is too long for a key", len(data))}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark, which some editors write
	der := data
	if bytes.Contains(data, []byte("-----BEGIN ")) {
		var malformed *Malformed
		if der, malformed = privateKeyBlock(data); malformed != nil {
			return nil, malformed
		}
	}
	// The parsers of crypto/x509 ignore what follows the key.
	var whole asn1.RawValue
	if rest, err := asn1.Unmarshal(der, &whole); err != nil || len(rest) != 0 {
		if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
			return nil, &Malformed{Reason: "the data is text in UTF-16: save it in UTF-8"}
		}
		return nil, &Malformed{Reason: "the data is neither PEM nor exactly one DER value"}
	}
	return der, nil
}

func privateKeyBlock(data []byte) (der []byte, malformed *Malformed) {
	var other string
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY":
			if block.Headers["DEK-Info"] != "" {
				return nil, &Malformed{block.Type,
					`legacy PEM encryption is not supported; convert it with "openssl pkcs8 -topk8"`}
			}
			if der != nil {
				return nil, &Malformed{Reason: "the data has more than one private key"}
			}
			der = block.Bytes
		default:
			other = block.Type
		}
	}
	switch {
	case der != nil:
		return der, nil
	case other == "OPENSSH PRIVATE KEY":
		return nil, &Malformed{other, `OpenSSH's own format is not supported; convert it with "ssh-keygen -p -m PKCS8"`}
	case other != "":
		return nil, &Malformed{other, "the data has no private key"}
	}
	return nil, &Malformed{Reason: "the PEM data is damaged"}
}

// longest is the largest length of a text, in bytes.
const longest = 200

// OneLine makes a name from a key file, a payload or a document safe for an error text: one line of limited length,
// with a space for each character that does not print.
func OneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}
