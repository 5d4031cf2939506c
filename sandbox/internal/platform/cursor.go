package platform

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// defaultPageSize is the page size of a list request without a limit.
const defaultPageSize = 50

// pageSize returns the requested page size. The gate has checked it.
func pageSize(asked int) int {
	if asked <= 0 {
		return defaultPageSize
	}
	return asked
}

// query identifies a list with its filters, without its page size. A cursor is valid for one query.
type query [sha256.Size]byte

func queryOf(c wire.Caller, operation string, filters ...string) query {
	parts := append([]string{c.Owner, c.Account, operation}, filters...)
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// bindingSize is how many bytes of a query's digest a cursor has.
const bindingSize = 16

// cursor returns the opaque text for a position in the list.
func (q query) cursor(position int) string {
	return base64.RawURLEncoding.EncodeToString(strconv.AppendInt(q[:bindingSize:bindingSize], int64(position), 10))
}

// position reads a cursor. An empty cursor is the start. A cursor of another query is refused as invalid_cursor.
func (q query) position(cursor string, start int) (int, error) {
	if cursor == "" {
		return start, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || !bytes.HasPrefix(text, q[:bindingSize]) {
		return 0, wire.InvalidCursor()
	}
	position, err := strconv.Atoi(string(text[bindingSize:]))
	// base64 ignores line ends, and a number may be written +7
	if err != nil || position < 0 || q.cursor(position) != cursor {
		return 0, wire.InvalidCursor()
	}
	return position, nil
}
