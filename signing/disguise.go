package signing

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The operations whose approvals this SDK signs, by their first part.
const (
	payoutOperations = "payout."
	escrowOperations = "escrow."
)

// readAsApproval returns what in data marks an approval, or "". It parses nothing: each parser forgives other
// mistakes, and the one that reads a signed payload is not known. It looks for the members as text, in data itself
// and in what escapes or base64 hide in it, and so finds them whatever surrounds them.
func readAsApproval(data []byte) string {
	var found marks
	found.look(data, maxNesting)
	return found.approval()
}

const (
	maxNesting = 3  // of base64 in base64
	maxEscapes = 16 // of escapes in escapes, as in JSON in a string in a string
)

// marks are the members of an approval that were found.
type marks struct{ approvalID, operation, resourceID, amount bool }

// approval says what makes the members an approval.
func (m marks) approval() string {
	switch {
	case m.approvalID:
		return "it has an approvalId"
	case m.operation:
		return "it has an operation that moves money"
	case m.resourceID && m.amount:
		return "it has a resourceId and an amount"
	}
	return ""
}

// look notes the members in data, in each layer of its escapes, and in the base64 of each, down to depth.
func (m *marks) look(data []byte, depth int) {
	text := visible(string(data))
	for range maxEscapes {
		m.lookAt(text)
		if depth > 0 {
			for _, decoded := range base64In(text) {
				m.look(decoded, depth-1)
			}
		}
		inner := visible(escape.ReplaceAllStringFunc(text, unescape))
		if inner == text || m.approval() != "" {
			return
		}
		text = inner
	}
}

func (m *marks) lookAt(text string) {
	text = dashes.Replace(text)
	m.approvalID = m.approvalID || approvalIDMember.MatchString(text)
	m.operation = m.operation || operationMember.MatchString(text)
	m.resourceID = m.resourceID || resourceIDMember.MatchString(text)
	m.amount = m.amount || amountMember.MatchString(text)
}

// The members of an approval, in any case, with quotes or without, and with white space and comments after the name.
// A name does not begin within a word.
var (
	approvalIDMember = regexp.MustCompile(name("approvalId"))
	resourceIDMember = regexp.MustCompile(name("resourceId"))
	amountMember     = regexp.MustCompile(name("amount"))
	operationMember  = regexp.MustCompile(name("operation") + `(?:["'\[]|` + gap + `)*` +
		`(?:` + regexp.QuoteMeta(payoutOperations) + `|` + regexp.QuoteMeta(escrowOperations) + `)`)
)

func name(member string) string {
	return `(?i)(?:^|[^\pL\pN])` + member + `["']?(?:` + gap + `)*:`
}

// gap is what a lenient parser skips.
const gap = `[\s\v\pZ]|/\*(?s:.*?)\*/|(?://|#)[^\n\r]*[\n\r]`

// dashes are those that some readers leave out when they compare names without regard to case.
var dashes = strings.NewReplacer("_", "", "-", "")

// visible drops what carries no text: NULs, which also turns UTF-16 and UTF-32 into ASCII, byte order marks, other
// control and format characters, and bytes that are not UTF-8.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.Is(unicode.Cf, r), unicode.IsControl(r) && !unicode.IsSpace(r):
			return -1
		}
		return r
	}, text)
}

// escape is one escape sequence of JSON, or of a relative that is more generous.
var escape = regexp.MustCompile(`\\(?:u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|\r\n|(?s:.))`)

func unescape(sequence string) string {
	rest := sequence[1:]
	if len(rest) > 1 && (rest[0] == 'u' || rest[0] == 'x') {
		code, _ := strconv.ParseInt(strings.Trim(rest[1:], "{}"), 16, 32) // hexadecimal, as escape found it
		return string(rune(code))
	}
	switch rest {
	case "n", "r", "t", "f", "v":
		return " "
	case "b", "0", "\n", "\r", "\r\n": // nothing to see, and a line that goes on
		return ""
	}
	return rest
}

var (
	base64Run = regexp.MustCompile(`[A-Za-z0-9+/]{16,}`)
	base64URL = strings.NewReplacer("-", "+", "_", "/")
	space     = regexp.MustCompile(`\s+`)
)

// base64In decodes each run of letters that may be base64. What stands before it can shift it by up to three.
func base64In(text string) (decoded [][]byte) {
	for _, run := range base64Run.FindAllString(base64URL.Replace(space.ReplaceAllString(text, "")), -1) {
		for shift := range 4 {
			shifted := run[shift:]
			if len(shifted)%4 == 1 { // no base64 has this length: a letter follows it
				shifted = shifted[:len(shifted)-1]
			}
			if data, err := base64.RawStdEncoding.DecodeString(shifted); err == nil {
				decoded = append(decoded, data)
			}
		}
	}
	return decoded
}
