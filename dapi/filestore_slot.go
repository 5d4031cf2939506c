package dapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
)

// slot is one of the two places in a session's file. They are written in turn, so that the other one is whole at any
// time. A checksum tells one that was written in part.
type slot struct {
	number uint64 // one more than that of the session before
	data   []byte // nil if nothing was written yet
}

// A slot is its mark, number, length and checksum, and then the data.
const (
	slotMark   = "session1"
	slotHeader = len(slotMark) + 8 + 4 + sha256.Size
	// slotSize holds two tokens of the length that no header exceeds, each character of which is escaped, and what
	// stands beside them.
	slotSize  = 5 * 64 << 10
	maxStored = slotSize - slotHeader
)

var (
	errNoSession = errors.New("it holds no session that is whole")
	errTooLong   = errors.New("session is longer than its tokens can be")
)

// newestSlot reads the session that was last written whole into a file of a size.
func newestSlot(file io.ReaderAt, size int64) (newest slot, err error) {
	if size == 0 {
		return slot{}, nil
	}
	if size <= 2*slotSize {
		for place := range int64(2) {
			s, whole := readSlot(io.NewSectionReader(file, place*slotSize, slotSize))
			if whole && s.number > newest.number {
				newest = s
			}
		}
	}
	if newest.data == nil {
		return slot{}, errNoSession
	}
	return newest, nil
}

func readSlot(r io.Reader) (s slot, whole bool) {
	header := make([]byte, slotHeader)
	if _, err := io.ReadFull(r, header); err != nil || !bytes.HasPrefix(header, []byte(slotMark)) {
		return s, false
	}
	length := binary.BigEndian.Uint32(header[len(slotMark)+8:])
	if length > uint32(maxStored) {
		return s, false
	}
	s = slot{number: binary.BigEndian.Uint64(header[len(slotMark):]), data: make([]byte, length)}
	if _, err := io.ReadFull(r, s.data); err != nil {
		return s, false
	}
	return s, bytes.Equal(header, s.header())
}

// next is the slot of a session that follows.
func (s slot) next(data []byte) slot { return slot{number: s.number + 1, data: data} }

func (s slot) header() []byte {
	header := binary.BigEndian.AppendUint64([]byte(slotMark), s.number)
	header = binary.BigEndian.AppendUint32(header, uint32(len(s.data))) //gosec:disable G115 -- at most maxStored
	digest := sha256.New()
	digest.Write(header)
	digest.Write(s.data)
	return digest.Sum(header)
}

// write puts the slot in its place, on the disk. If that fails, the session before it stays the newest.
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
