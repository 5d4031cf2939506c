package wire

import (
	"bytes"
	"io"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// badText is the problem of a text that [Mend] replaces.
const badText = "is text that JSON does not allow: half a surrogate pair, bytes that are not UTF-8, or a raw tab"

// Mend returns a body with null for each text that JSON does not allow, and what it replaced. Services cut texts in the
// middle of a character, and such a text must not cost the rest of the response. Text that is only nearly right proves
// nothing, so it is not read. A name of a member stays, with U+FFFD for what is wrong. Mend returns a body that is not
// JSON for another reason as it is.
func Mend(body []byte) (mended []byte, replaced []moneymovement.Unread) {
	text, ends := codec.Mend(body)
	if ends == nil {
		return body, nil
	}
	var out bytes.Buffer
	dec, enc := codec.NewDecoder(bytes.NewReader(text)), codec.NewEncoder(&out)
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), replaced
		}
		if err != nil {
			return body, nil
		}
		if len(ends) > 0 && dec.InputOffset() == int64(ends[0]) {
			ends = ends[1:]
			if len(replaced) < maxUnread {
				replaced = append(replaced,
					moneymovement.Unread{Pointer: string(dec.StackPointer()), Stated: true, Problem: badText})
			}
			if !isName(dec) {
				token = codec.Null()
			}
		}
		if enc.WriteToken(token) != nil {
			return body, nil
		}
	}
}

// isName reports whether the decoder has just read the name of a member.
func isName(dec *codec.Decoder) bool {
	kind, length := dec.StackIndex(dec.StackDepth())
	return kind == codec.KindBeginObject && length%2 == 1
}
