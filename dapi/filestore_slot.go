package dapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
)

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
// session was partly written to the file, and errNoSession if the file has other content. An empty file is no error.
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
func (s slot) write(file sessionFile) error {
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
