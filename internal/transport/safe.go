package transport

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Segment checks that an escaped value stays one segment of the path. No server or proxy that decodes twice may read it
// as "..", as a separator, or as the end of the path. It returns whether the value is safe.
func (c *Check) Segment(field, value string) bool {
	if wire.StaysSegment(value) {
		return true
	}
	c.Refuse(field, "pattern", "contains characters that could change the path of the request, such as / or ..")
	return false
}

// maxHeader is longer than any header value that servers accept.
const maxHeader = 64 << 10

// Header checks the value of a header. It refuses a value that would break the header, even if the rule allows it.
func (c *Check) Header(field, value string, rule Rule) {
	switch {
	case strings.ContainsFunc(value, breaksHeader):
		c.Refuse(field, "pattern", "contains control characters: remove them")
	case len(value) > maxHeader:
		c.Refuse(field, "too_long", "is too long for an HTTP header")
	default:
		c.Text(field, value, rule)
	}
}

// clientRule is the stated rule for a client's id.
var clientRule = Rule{Required: true, Pattern: "^cl_", Prefix: "cl_"}

// ClientID checks the id of a client, as it is sent in X-Service-Account. HTTP cuts off blanks at its ends.
func (c *Check) ClientID(field, id string) {
	if !utf8.ValidString(id) || strings.TrimFunc(id, unicode.IsSpace) != id {
		c.Refuse(field, "pattern", "begins or ends with a blank, or has bytes that are not UTF-8: remove them")
		return
	}
	c.Header(field, id, clientRule)
}

// breaksHeader reports characters that end a header, or that HTTP forbids in one (RFC 9110, section 5.5).
func breaksHeader(r rune) bool { return r < ' ' && r != '\t' || r == '\x7f' }

// credentialRule is the form of a credential in a header: one word without spaces.
var credentialRule = Rule{Required: true, Pattern: `^[\x21-\x7e]+$`}

// Credential checks a secret before it is used as a credential.
func (c *Check) Credential(field string, s hidden.Text) {
	c.Header(field, hidden.Reveal(s), credentialRule)
}
