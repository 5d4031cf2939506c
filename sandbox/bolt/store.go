//go:build !wasm

package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
)

// Store keeps the state of one host at a time in a file. It is safe for concurrent use. Pass it to [sandbox.WithStore].
type Store struct {
	path string
	db   *bbolt.DB
}

var _ store.Store = (*Store)(nil)

// Close closes the file. Stop the server of the host first. A host whose store is closed refuses every request with
// internal_error.
func (s *Store) Close() error {
	if err := s.guarded(s.db.Close); err != nil {
		return fmt.Errorf("bolt: cannot close %s: %w", s.path, err)
	}
	return nil
}

// entry is a record as a host gets it.
type entry struct {
	id      string
	encoded []byte
}

// atATime is how many records Load reads before it passes them on.
const atATime = 1024

// Load is for the host. It calls each with the records of a kind, in the order in which they were first put. The error
// is *[Damaged] if the file cannot be read.
func (s *Store) Load(kind string, each func(id string, encoded []byte) error) error {
	var after []byte
	for {
		var page []entry
		err := s.guarded(func() error { return s.read(kind, &after, &page) })
		if err != nil {
			return err
		}
		for _, kept := range page {
			if err := each(kept.id, kept.encoded); err != nil {
				return err
			}
		}
		if len(page) < atATime {
			return nil
		}
	}
}

// read appends the next records of a kind to page, and moves after to the last of them.
func (s *Store) read(kind string, after *[]byte, page *[]entry) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		records := kindOf(tx, kind)
		if records == nil {
			return nil
		}
		order := records.Bucket(orderBucket)
		if order == nil || records.Bucket(idsBucket) == nil {
			return s.damaged(kind, errors.New("the list of its records is missing"))
		}
		cursor := order.Cursor()
		key, packed := cursor.First()
		if *after != nil {
			if key, packed = cursor.Seek(*after); string(key) == string(*after) {
				key, packed = cursor.Next()
			}
		}
		for ; key != nil && len(*page) < atATime; key, packed = cursor.Next() {
			id, encoded, err := unpack(packed)
			if err != nil {
				return s.damaged(kind, err)
			}
			*page = append(*page, entry{id, encoded})
			*after = append((*after)[:0:0], key...)
		}
		return nil
	})
}

func (s *Store) damaged(kind string, err error) error {
	return &Damaged{Path: s.path, Problem: kind, Err: err}
}

// kindOf returns the bucket of a kind, or nil.
func kindOf(tx *bbolt.Tx, kind string) *bbolt.Bucket {
	if kinds := tx.Bucket(kindsBucket); kinds != nil {
		return kinds.Bucket([]byte(kind))
	}
	return nil
}

// Commit is for the host. It stores all of these changes in one transaction, or none. When it returns, they are on the
// disk.
func (s *Store) Commit(changes []store.Change) error {
	if len(changes) == 0 {
		return nil
	}
	encoded := make([][]byte, len(changes))
	for i, change := range changes {
		if change.Record == nil {
			continue
		}
		var err error
		if encoded[i], err = change.Encode(); err != nil {
			return fmt.Errorf("bolt: %s %s: %w", change.Kind, change.ID(), err)
		}
	}
	err := s.guarded(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			for i, change := range changes {
				if err := apply(tx, change, encoded[i]); err != nil {
					return fmt.Errorf("%s %s: %w", change.Kind, change.ID(), err)
				}
			}
			return nil
		})
	})
	if damaged := (*Damaged)(nil); err != nil && !errors.As(err, &damaged) {
		return fmt.Errorf("bolt: cannot write %s: %w", s.path, err)
	}
	return err
}

func apply(tx *bbolt.Tx, change store.Change, encoded []byte) error {
	kinds := tx.Bucket(kindsBucket)
	if kinds == nil {
		return bbolterrors.ErrBucketNotFound
	}
	kind, id := []byte(change.Kind), change.ID()
	if id == "" {
		if err := kinds.DeleteBucket(kind); !errors.Is(err, bbolterrors.ErrBucketNotFound) {
			return err
		}
		return nil
	}
	records, err := kinds.CreateBucketIfNotExists(kind)
	if err != nil {
		return err
	}
	order, err := records.CreateBucketIfNotExists(orderBucket)
	if err != nil {
		return err
	}
	ids, err := records.CreateBucketIfNotExists(idsBucket)
	if err != nil {
		return err
	}
	number := ids.Get([]byte(id))
	if change.Record == nil {
		if number == nil {
			return nil
		}
		return errors.Join(order.Delete(append([]byte(nil), number...)), ids.Delete([]byte(id)))
	}
	if number == nil {
		next, err := order.NextSequence()
		if err != nil {
			return err
		}
		number = binary.BigEndian.AppendUint64(nil, next)
		if err := ids.Put([]byte(id), number); err != nil {
			return err
		}
	}
	return order.Put(number, pack(id, encoded))
}

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

// unpack decodes the result of pack. It copies, because memory of bbolt is valid during a transaction only.
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
