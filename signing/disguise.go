package signing

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The operations whose approvals this SDK signs, by their first part.
const (
	payoutOperations = "payout."
	escrowOperations = "escrow."
)

// readAsApproval returns why data looks like an approval, or "". It does not parse: parsers accept different mistakes,
// and nobody knows which parser reads a signed payload. It searches the text of data for the members, and also the text
// that escapes or base64 hide.
func readAsApproval(data []byte) string {
	s := search{depths: map[string]int{}}
	s.scan(string(data), maxNesting)
	return s.found.approval()
}

const (
	maxNesting = 3  // of base64 in base64
	maxEscapes = 16 // of escapes in escapes, as in JSON in a string in a string
)

// marks are the members of an approval that were found.
type marks struct{ approvalID, operation, resourceID, amount bool }

// approval returns why the members look like an approval, or "".
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

func (m *marks) scan(text string) {
	if !strings.Contains(text, ":") { // which every member has
		return
	}
	text = dashes.Replace(text)
	upper := strings.ToUpper(text)
	m.approvalID = m.approvalID || approvalIDMember.in(text, upper)
	m.operation = m.operation || operationMember.in(text, upper)
	m.resourceID = m.resourceID || resourceIDMember.in(text, upper)
	m.amount = m.amount || amountMember.in(text, upper)
}

// search looks for marks in a text and in the texts that it hides.
type search struct {
	found marks
	// depths is how deep each text was searched. Layers of escapes share most of their base64, and a hostile payload
	// would make the search repeat all of it.
	depths map[string]int
}

// scan searches data, each layer of its escapes, and the base64 in each layer, down to depth.
func (s *search) scan(data string, depth int) {
	text := visible(data)
	if before, again := s.depths[text]; again && before >= depth {
		return
	}
	s.depths[text] = depth
	for range maxEscapes {
		s.found.scan(text)
		if depth > 0 {
			for _, decoded := range base64In(text) {
				s.scan(decoded, depth-1)
			}
		}
		inner := visible(unescape(text))
		if inner == text || s.found.approval() != "" {
			return
		}
		text = inner
	}
}

// The members of an approval, in any letter case, with or without quotes, and with white space and comments after the
// name. A name does not begin inside a word.
var (
	approvalIDMember = newMember("approvalId", "")
	resourceIDMember = newMember("resourceId", "")
	amountMember     = newMember("amount", "")
	operationMember  = newMember("operation", `(?:["'\[]|`+gap+`)*`+
		`(?:`+regexp.QuoteMeta(payoutOperations)+`|`+regexp.QuoteMeta(escrowOperations)+`)`)
)

// hiddenMember finds a member of an approval in a text.
type hiddenMember struct {
	// the name in capitals: few texts hold it, and looking for it takes a fraction of the expression's time
	upper string
	form  func() *regexp.Regexp
}

func newMember(name, value string) hiddenMember {
	return hiddenMember{strings.ToUpper(name),
		expression(`(?i)(?:^|[^\pL\pN])` + name + `["']?(?:` + gap + `)*:` + value)}
}

// in reports whether the member is in text, which upper holds in capitals.
func (m hiddenMember) in(text, upper string) bool {
	return strings.Contains(upper, m.upper) && m.form().MatchString(text)
}

// expression compiles a regular expression when it is first used, because few programs ever use it: compiling all of
// them takes about a millisecond.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// gap matches what a lenient parser skips.
const gap = `[\s\v\pZ]|/\*(?s:.*?)\*/|(?://|#)[^\n\r]*[\n\r]`

// dashes removes the characters that some parsers ignore when they compare names without case.
var dashes = strings.NewReplacer("_", "", "-", "")

// visible removes characters that show no text: NULs (which also turns UTF-16 and UTF-32 into ASCII), byte order marks,
// other control and format characters, and bytes that are not UTF-8.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case ' ' < r && r < unicode.MaxASCII: // most of it, decided at once
			return r
		case r == utf8.RuneError, unicode.Is(unicode.Cf, r), unicode.IsControl(r) && !unicode.IsSpace(r):
			return -1
		}
		return r
	}, text)
}

// unescape replaces each escape sequence of JSON, or of a more lenient format, by its meaning.
func unescape(text string) string {
	var plain strings.Builder
	for {
		before, escaped, _ := strings.Cut(text, `\`)
		plain.WriteString(before)
		if escaped == "" {
			return plain.String()
		}
		stands, size := unescapeOne(escaped)
		plain.WriteString(stands)
		text = escaped[size:]
	}
}

// escapedCode matches a character by its number.
var escapedCode = expression(`^(?:u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})`)

// unescapeOne returns the meaning and the size of an escape sequence. escaped begins after the backslash.
func unescapeOne(escaped string) (stands string, size int) {
	if sequence := escapedCode().FindString(escaped); sequence != "" {
		code, _ := strconv.ParseInt(strings.Trim(sequence[1:], "{}"), 16, 32) // hexadecimal, as escapedCode found it
		return string(rune(code)), len(sequence)
	}
	if strings.HasPrefix(escaped, "\r\n") {
		return "", len("\r\n")
	}
	_, size = utf8.DecodeRuneInString(escaped)
	switch letter := escaped[:size]; letter {
	case "n", "r", "t", "f", "v":
		return " ", size
	case "b", "0", "\n", "\r": // nothing visible, and a line that continues
		return "", size
	default:
		return letter, size
	}
}

// base64Text removes white space, and replaces the URL alphabet by the standard one.
var base64Text = strings.NewReplacer("-", "+", "_", "/", " ", "", "\t", "", "\n", "", "\f", "", "\r", "")

// shortestBase64 is the shortest run of letters that can hide a member.
const shortestBase64 = 16

// base64In decodes each run of letters that may be base64. Letters before the base64 can shift it by up to three.
func base64In(text string) (decoded []string) {
	for _, run := range strings.FieldsFunc(base64Text.Replace(text), notBase64) {
		if len(run) < shortestBase64 {
			continue
		}
		for shift := range 4 {
			shifted := run[shift:]
			if len(shifted)%4 == 1 { // no base64 has this length: a letter follows it
				shifted = shifted[:len(shifted)-1]
			}
			if data, err := base64.RawStdEncoding.DecodeString(shifted); err == nil {
				decoded = append(decoded, string(data))
			}
		}
	}
	return decoded
}

func notBase64(r rune) bool {
	letter := 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '+' || r == '/'
	return !letter
}
