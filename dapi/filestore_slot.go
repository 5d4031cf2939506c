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
	errNoSession = errors.New("it has no complete session; the next login replaces it")
	errTooLong   = errors.New("the session is too long to store: its tokens are longer than a header can carry")
)

// newestSlot reads the session that was last written completely, from a file of the given size.
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
