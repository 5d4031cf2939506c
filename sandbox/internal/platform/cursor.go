package platform

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// defaultPageSize is the page size of a list that asks for none. Source: Limits, Pages and sizes.
const defaultPageSize = 50

// pageSize is the size asked for; the gate has bounded it.
func pageSize(asked int) int {
	if asked <= 0 {
		return defaultPageSize
	}
	return asked
}

// query identifies a list with its filters, whatever its page size. A cursor is bound to it.
type query [sha256.Size]byte

func queryOf(c caller.Caller, operation string, filters ...string) query {
	parts := append([]string{c.Owner, c.Account, operation}, filters...)
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// cursor is the opaque text for a position within the list.
func (q query) cursor(position int) string {
	text := binary.BigEndian.AppendUint64(append([]byte{}, q[:16]...), uint64(position))
	return base64.RawURLEncoding.EncodeToString(text)
}

// position reads a cursor back; an empty one is the start. A cursor of another query is refused as invalid_cursor.
func (q query) position(cursor string, start int) (int, error) {
	if cursor == "" {
		return start, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(text) != 24 || [16]byte(text) != [16]byte(q[:16]) {
		return 0, refuse.InvalidCursor()
	}
	position := binary.BigEndian.Uint64(text[16:])
	if position > 1<<40 {
		return 0, refuse.InvalidCursor()
	}
	return int(position), nil
}
