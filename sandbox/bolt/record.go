//go:build !wasm

package bolt

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// A record is stored as a checksum of the rest, the length of its id, its id, and its encoded form. bbolt has no
// checksums of its own, except for the first two pages.

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)

	errChecksum = errors.New("the checksum of a record is wrong")
)

// checksumLength is the length of a checksum in bytes.
const checksumLength = 4

// pack returns the stored form of a record.
func pack(id string, encoded []byte) []byte {
	packed := make([]byte, checksumLength, checksumLength+binary.MaxVarintLen64+len(id)+len(encoded))
	packed = binary.AppendUvarint(packed, uint64(len(id)))
	packed = append(append(packed, id...), encoded...)
	binary.BigEndian.PutUint32(packed, crc32.Checksum(packed[checksumLength:], castagnoli))
	return packed
}

// unpack returns a record that pack made. It copies: what bbolt returns is valid during a transaction only.
func unpack(packed []byte) (id string, encoded []byte, err error) {
	if len(packed) < checksumLength {
		return "", nil, errChecksum
	}
	rest := packed[checksumLength:]
	if binary.BigEndian.Uint32(packed) != crc32.Checksum(rest, castagnoli) {
		return "", nil, errChecksum
	}
	length, read := binary.Uvarint(rest)
	if rest = rest[max(read, 0):]; read <= 0 || length > uint64(len(rest)) {
		return "", nil, errChecksum
	}
	return string(rest[:length]), append([]byte(nil), rest[length:]...), nil
}
