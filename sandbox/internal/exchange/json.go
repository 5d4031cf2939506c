package exchange

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// maskJSON copies JSON as it was written, and puts a text in place of each secret. If the JSON breaks off or is wrong,
// it returns the part before that, and how many bytes it left out.
func maskJSON(body []byte) (shown []byte, rest int) {
	in := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	copied := 0
	for {
		isName := namesNext(in)
		token, err := in.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return append(shown, body[copied:]...), 0 // only space is left
		case err != nil:
			end := int(in.InputOffset())
			return append(shown, body[copied:max(end, copied)]...), len(body) - end
		case !isName || token.Kind() != jsontext.KindString || !isSecret(token.String()):
			continue
		}
		shown = append(shown, body[copied:in.InputOffset()]...)
		shown = append(shown, `:"`+redacted+`"`...)
		copied = int(in.InputOffset())
		if err := in.SkipValue(); err != nil {
			return shown, len(body) - copied
		}
		copied = int(in.InputOffset())
	}
}

// namesNext reports whether the next token is the name of a member.
func namesNext(in *jsontext.Decoder) bool {
	kind, length := in.StackIndex(in.StackDepth())
	return kind == jsontext.KindBeginObject && length%2 == 0
}
