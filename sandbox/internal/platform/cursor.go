package platform

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// defaultPageSize is the page size of a list that asks for none.
const defaultPageSize = 50

// pageSize is the size asked for; the gate has bounded it.
func pageSize(asked int) int {
	if asked <= 0 {
		return defaultPageSize
	}
	return asked
}

// query identifies a list with its filters, without its page size. A cursor is bound to it.
type query [sha256.Size]byte

func queryOf(c caller.Caller, operation string, filters ...string) query {
	parts := append([]string{c.Owner, c.Account, operation}, filters...)
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// bindingSize is how much of a query's digest a cursor carries, in bytes.
const bindingSize = 16

// cursor is the opaque text for a position within the list.
func (q query) cursor(position int) string {
	return base64.RawURLEncoding.EncodeToString(strconv.AppendInt(q[:bindingSize:bindingSize], int64(position), 10))
}

// position reads a cursor back; an empty one is the start. A cursor of another query is refused as invalid_cursor.
func (q query) position(cursor string, start int) (int, error) {
	if cursor == "" {
		return start, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || !bytes.HasPrefix(text, q[:bindingSize]) {
		return 0, refuse.InvalidCursor()
	}
	position, err := strconv.Atoi(string(text[bindingSize:]))
	// base64 overlooks line ends, and a number can be spelled +7
	if err != nil || position < 0 || q.cursor(position) != cursor {
		return 0, refuse.InvalidCursor()
	}
	return position, nil
}
