package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// redacted stands for a secret.
const redacted = "[redacted]"

// Mask replaces secrets in texts. It knows them by the name that they have, by their form, or by themselves.
type Mask struct {
	// Known are secrets whose form says nothing.
	Known []string
}

// moreSecretNames are names of secrets that the descriptions do not have, in the spelling of [plain]. Callers invent
// them when they guess.
var moreSecretNames = []string{"apikey", "authorization", "clientsecret", "cvc", "idtoken", "pan", "passphrase",
	"password", "pin", "privatekey", "secret", "securitycode", "sessiontoken", "signedmessage", "xapikey"}

// secretNames are the names of members that hold secrets, in the spelling of [plain].
var secretNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, name := range slices.Concat(AllOperations().Secrets, moreSecretNames) {
		names[normalizeName(name)] = true
	}
	return names
})

// normalizeName returns a name in one spelling: access_token, Access-Token and accessToken are the same.
func normalizeName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

func isSecret(name string) bool { return secretNames()[normalizeName(name)] }

// secretHeaders are parts of the names of headers that hold secrets.
var secretHeaders = regexp.MustCompile(`(?i)auth|token|secret|cookie|api-?key|password|signature`)

// maskHeader returns the value of a header, or a placeholder for a secret one. The scheme of an Authorization header
// stays.
func maskHeader(name, value string) string {
	if !secretHeaders.MatchString(name) {
		return value
	}
	if scheme, _, found := strings.Cut(value, " "); found && strings.EqualFold(scheme, "Bearer") {
		return scheme + " " + redacted
	}
	return redacted
}

// The forms of secrets: the host's own tokens and keys, and private keys in PEM.
var (
	issuedTokens = regexp.MustCompile(`\b(?:at|rt|uat|ak)_[A-Z2-7]{20,}`)
	privateKeys  = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?`)
	cardNumbers  = regexp.MustCompile(`\b[0-9]{15,19}\b`)
)

// Text replaces secrets that it knows by their form.
func (m Mask) Text(text string) string {
	for _, secret := range m.Known {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, redacted)
		}
	}
	text = issuedTokens.ReplaceAllString(text, redacted)
	text = privateKeys.ReplaceAllString(text, redacted)
	return cardNumbers.ReplaceAllStringFunc(text, func(digits string) string {
		if isCardNumber(digits) {
			return redacted
		}
		return digits
	})
}

// isCardNumber checks the last digit of a number as cards have it.
func isCardNumber(digits string) bool {
	sum := 0
	for i := range len(digits) {
		digit := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if digit *= 2; digit > 9 {
				digit -= 9
			}
		}
		sum += digit
	}
	return sum%10 == 0
}

// query replaces secrets in the query of a URL.
func (m Mask) query(query string) string {
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, _, found := strings.Cut(part, "=")
		if decoded, err := url.QueryUnescape(name); found && err == nil && isSecret(decoded) {
			parts[i] = name + "=" + redacted
		}
	}
	return m.Text(strings.Join(parts, "&"))
}

// body returns the text of a body with so many bytes in all. Other bodies than JSON cannot be searched for secrets by
// their names, so they are not shown.
func (m Mask) body(body []byte, length int) string {
	if len(body) == 0 {
		return ""
	}
	masked, rest := maskJSON(body)
	text := m.Text(string(masked))
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "�")
	}
	switch cutOff := len(body) < length; {
	case rest == 0:
		return text
	case cutOff && len(masked) > 0:
		return text + "…"
	default:
		return text + fmt.Sprintf("[%d bytes that are not JSON]", rest+length-len(body))
	}
}

// maskJSON copies JSON as it was written, and puts a text in place of each secret. If the JSON breaks off or is wrong,
// it returns the part before that, and how many bytes it left out.
func maskJSON(body []byte) (masked []byte, rest int) {
	in := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	copied := 0
	for {
		isName := namesNext(in)
		token, err := in.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return append(masked, body[copied:]...), 0 // only space is left
		case err != nil:
			end := int(in.InputOffset())
			return append(masked, body[copied:max(end, copied)]...), len(body) - end
		case !isName || token.Kind() != jsontext.KindString || !isSecret(token.String()):
			continue
		}
		masked = append(masked, body[copied:in.InputOffset()]...)
		masked = append(masked, `:"`+redacted+`"`...)
		copied = int(in.InputOffset())
		if err := in.SkipValue(); err != nil {
			return masked, len(body) - copied
		}
		copied = int(in.InputOffset())
	}
}

// namesNext reports whether the next token is the name of a member.
func namesNext(in *jsontext.Decoder) bool {
	kind, length := in.StackIndex(in.StackDepth())
	return kind == jsontext.KindBeginObject && length%2 == 0
}
