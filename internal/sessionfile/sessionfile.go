// Package sessionfile keeps one session, as bytes, in a file that several processes share. Each process locks the file
// while it reads or writes.
//
// The file has two slots, which are written in turn. So a crash during a write leaves the session from before. The file
// is never replaced by another one: its path can be a symbolic link, or a file that is mounted by itself. This is why
// the package renames nothing, as libraries for atomic writes do, and needs no second file for the lock.
package sessionfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// File is a file that holds a session. It is safe for concurrent use.
type File struct {
	path string
	// open locks the file until it is closed. The error is errInUse if another process has locked it.
	open       func(path string, flag int) (handle, error)
	syncFolder func(path string) error
}

// New returns the session file of a path. It opens nothing.
func New(path string) *File { return &File{path: path, open: openLocked, syncFolder: syncFolder} }

// handle is an open file. A test has one that fails.
type handle interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
}

var (
	errInUse      = errors.New("another process has locked it: try again, or stop that process")
	errNotRegular = errors.New("it is not a regular file: use another path")
	errForeign    = errors.New("it belongs to another user: use another path")
	errWritable   = errors.New("other users can write to it, so its content may be theirs: remove it")
	errReadable   = errors.New("other users can read it: run chmod 600 on it")
	errFolder     = errors.New("every user can replace files in this folder: run chmod o-w on it")
)

const (
	lockTimeout = 10 * time.Second // longer than many processes need to save one after the other
	lockPause   = 2 * time.Millisecond
)

// Load returns the stored session, or nil if there is none.
func (f *File) Load(ctx context.Context) ([]byte, error) {
	file, err := f.locked(ctx, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	newest, err := f.newest(file)
	return newest.data, err
}

// Save replaces the stored session. When it returns nil, the session is on the disk.
func (f *File) Save(ctx context.Context, session []byte) error {
	if len(session) > maxStored {
		return f.refused(errTooLong)
	}
	if err := checkFolders(f.path); err != nil {
		return err
	}
	file, before, err := f.toWrite(ctx)
	if err != nil {
		return err
	}
	defer file.Close() // the data is synced, so closing cannot lose it
	if err := before.next(session).write(file); err != nil {
		return err
	}
	return f.syncFolder(filepath.Dir(f.path)) // otherwise a crash could lose the name of a new file
}

// toWrite opens the file, and creates it if it does not exist. It never removes or replaces a file: a link to it would
// be lost, a file that is mounted by itself cannot be replaced, and the content may be somebody's.
func (f *File) toWrite(ctx context.Context) (file handle, before slot, err error) {
	for range 3 { // another process may make or remove the file in between
		if file, err = f.locked(ctx, os.O_RDWR); errors.Is(err, fs.ErrNotExist) {
			file, err = f.locked(ctx, os.O_RDWR|os.O_CREATE|os.O_EXCL)
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, slot{}, err
	}
	if before, err = f.newest(file); err != nil && !errors.Is(err, errDamaged) {
		file.Close()
		return nil, slot{}, err
	}
	return file, before, nil
}

// newest returns the last complete session of an open file, or the zero slot if nothing was written yet.
func (f *File) newest(file handle) (slot, error) {
	info, err := file.Stat()
	if err != nil {
		return slot{}, err
	}
	if !info.Mode().IsRegular() {
		return slot{}, f.refused(errNotRegular)
	}
	if err = checkFile(info); err != nil {
		return slot{}, f.refused(err)
	}
	if err = checkFolders(f.path); err != nil {
		return slot{}, err
	}
	newest, err := newestSlot(file, info.Size())
	if err != nil {
		return slot{}, f.refused(err)
	}
	return newest, nil
}

// locked opens the file when no other process writes it.
func (f *File) locked(ctx context.Context, flag int) (handle, error) {
	for since := time.Now(); ; {
		file, err := f.open(f.path, flag)
		if !errors.Is(err, errInUse) {
			return file, err
		}
		if time.Since(since) > lockTimeout {
			return nil, f.refused(err)
		}
		flag &^= os.O_CREATE | os.O_EXCL // the file exists now
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (f *File) refused(reason error) error {
	return &fs.PathError{Op: "session file", Path: f.path, Err: reason}
}

// slot is one of the two places in a session's file. They are written in turn, so the other one is always complete. A
// checksum detects a slot that was written in part.
type slot struct {
	number uint64 // one more than the number of the slot before
	data   []byte // nil if nothing was written yet
}

// A slot is its mark, number, length and checksum, and then the data.
const (
	slotMark   = "session1"
	slotHeader = len(slotMark) + 8 + 4 + sha256.Size
	// slotSize is enough for two tokens as long as the longest header, with each character escaped, and the other
	// fields.
	slotSize  = 5 * 64 << 10
	maxStored = slotSize - slotHeader
)

var (
	errDamaged   = errors.New("it has no complete session: the next login writes one")
	errNoSession = errors.New("it holds something else than a session: use another path, or remove it")
	errTooLong   = errors.New("the session is too long to store: its tokens are longer than a header can carry")
)

// newestSlot returns the newest complete session in a file of this size. Without one, the error is errDamaged if a
// session was partly written to the file, and errNoSession if the file has other content. An empty file is not an
// error.
func newestSlot(file io.ReaderAt, size int64) (newest slot, err error) {
	if size > 2*slotSize {
		return slot{}, errNoSession
	}
	damaged := errDamaged
	for place := range int64(2) {
		s, begun := readSlot(io.NewSectionReader(file, place*slotSize, slotSize))
		if s.number > newest.number {
			newest = s
		}
		if !begun {
			damaged = errNoSession
		}
	}
	if newest.data == nil && size > 0 {
		return slot{}, damaged
	}
	return newest, nil
}

// readSlot returns the session in one place of the file, or the zero slot if it is not complete. begun is false if the
// place has other content.
func readSlot(r io.Reader) (s slot, begun bool) {
	header := make([]byte, slotHeader)
	if n, err := io.ReadFull(r, header); err != nil {
		return slot{}, begunSlot(header[:n])
	}
	length := binary.BigEndian.Uint32(header[len(slotMark)+8:])
	if !bytes.HasPrefix(header, []byte(slotMark)) || length > uint32(maxStored) {
		return slot{}, begunSlot(header)
	}
	s = slot{number: binary.BigEndian.Uint64(header[len(slotMark):]), data: make([]byte, length)}
	if _, err := io.ReadFull(r, s.data); err != nil || !bytes.Equal(header, s.header()) {
		return slot{}, true
	}
	return s, true
}

// begunSlot reports whether a place holds nothing but zeros, or a mark that may be cut off by zeros.
func begunSlot(header []byte) bool {
	for i := range min(len(slotMark), len(header)) {
		if header[i] != slotMark[i] {
			return len(bytes.Trim(header[i:], "\x00")) == 0
		}
	}
	return true
}

// next returns the slot for the next session.
func (s slot) next(data []byte) slot { return slot{number: s.number + 1, data: data} }

func (s slot) header() []byte {
	header := binary.BigEndian.AppendUint64([]byte(slotMark), s.number)
	header = binary.BigEndian.AppendUint32(header, uint32(len(s.data))) //gosec:disable G115 -- at most maxStored
	digest := sha256.New()
	digest.Write(header)
	digest.Write(s.data)
	return digest.Sum(header)
}

// write writes the slot in its place and syncs it to the disk. If that fails, the session before it stays the newest.
func (s slot) write(file handle) error {
	at := int64((s.number-1)%2) * slotSize
	_, err := file.WriteAt(append(s.header(), s.data...), at)
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		_, _ = file.WriteAt(make([]byte, slotHeader), at)
	}
	return err
}
