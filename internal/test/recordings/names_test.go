package recordings_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// names gives a value that differs in each run the same name in all runs: ids by first appearance, times by their
// distance from the start.
type names struct {
	start  time.Time
	given  map[string]string // by what it stands for; what the example itself sent stands for itself
	opaque map[string]string // by what it stands for, wherever that is a part of a text
	count  map[string]int    // of each kind
}

func newNames(start time.Time) *names {
	return &names{start: start, given: map[string]string{}, opaque: map[string]string{}, count: map[string]int{}}
}

// varying matches times, dates, and the random values of the host: UUIDs, derived keys, addresses, hashes, and texts of
// crypto/rand with their prefix.
var varying = regexp.MustCompile(`\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z)?\b` +
	`|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}` +
	`|\bderived-[0-9a-f]{32}\b` +
	`|\b0x[0-9a-fA-F]{40}\b|\b0x[0-9a-fA-F]{64}\b` +
	`|\b(?:[a-z]+_)?(?:[A-Z2-7]{52}|[A-Z2-7]{26}|[a-z2-7]{26})\b`)

// text replaces the varying parts of a text of the host by names.
func (n *names) text(text string) string {
	for found, name := range n.opaque {
		text = strings.ReplaceAll(text, found, name)
	}
	return varying.ReplaceAllStringFunc(text, func(found string) string {
		if _, ok := n.given[found]; !ok {
			n.given[found] = n.next(found)
		}
		return n.given[found]
	})
}

// sent is [names.text] for a text of the example. Ids and times of the example itself stay.
func (n *names) sent(text string) string {
	for _, found := range varying.FindAllString(text, -1) {
		if _, ok := n.given[found]; !ok {
			n.given[found] = found
		}
	}
	return n.text(text)
}

func (n *names) next(found string) string {
	if at, err := time.Parse(time.RFC3339Nano, found); err == nil {
		return recorded.Moment(at.Sub(n.start))
	}
	if date, err := time.Parse(time.DateOnly, found); err == nil {
		return recorded.Date(int(date.Sub(n.start.UTC().Truncate(24*time.Hour)) / (24 * time.Hour)))
	}
	kind := found[:strings.LastIndexByte(found, '_')+1]
	switch {
	case kind != "":
	case strings.HasPrefix(found, "derived-"):
		kind = "derived-"
	case strings.HasPrefix(found, "0x"):
		kind = fmt.Sprintf("0x%%0%dd", len(found)-len("0x"))
	case strings.Contains(found, "-"):
		kind = "00000000-0000-4000-8000-%012d"
	default:
		kind = "random_"
	}
	return n.numbered(kind)
}

// remember names a value that is recognised by its member.
func (n *names) remember(member, value string) {
	if _, ok := n.opaque[value]; !ok && value != "" {
		n.opaque[value] = n.numbered(member + "_")
	}
}

// numbered returns the next name of a kind. kind is a format for the number, or the text before it.
func (n *names) numbered(kind string) string {
	n.count[kind]++
	if strings.Contains(kind, "%") {
		return fmt.Sprintf(kind, n.count[kind])
	}
	return fmt.Sprint(kind, n.count[kind])
}

// differing are the members of requests whose values differ each time.
var differing = []string{"signature", "signatures", "publicKey", "messageSignature", "nonce"}

// requestWindow is the lifetime that a login asks for, on the SDK's clock. The host returns its end unchanged.
const requestWindow = 150 * time.Second

// opaque are the members of responses whose values differ and have no recognisable form.
var opaque = []string{"nextCursor", "reference"}

// drawn are the members of responses with random values of a special form, and what is recorded in place of them: the
// secrets of a card, and the number of a bank account.
var drawn = map[string]string{"cardNumber": "9999990000000006", "lastFour": "0006", "cvv": "000", "expiryDate": "12/99",
	"iban": "DE89370400440532013000"}

// request names what varies in the body of a request. A body that is not JSON is not recorded.
func (n *names) request(t *testing.T, body []byte) jsontext.Value {
	if !isJSON(body) {
		return nil
	}
	return rewritten(t, body, func(name string, value jsontext.Value) (jsontext.Value, bool) {
		switch {
		case name == "requestExpiry":
			n.given[unquoted(t, value)] = recorded.Moment(requestWindow)
			return quoted(recorded.Any), true
		case slices.Contains(differing, name):
			return quoted(recorded.Any), true
		case value.Kind() == '"':
			return quoted(n.sent(unquoted(t, value))), true
		}
		return nil, false
	})
}

// answer names what varies in the body of a response.
func (n *names) answer(t *testing.T, body []byte) jsontext.Value {
	return rewritten(t, body, func(name string, value jsontext.Value) (jsontext.Value, bool) {
		if value.Kind() != '"' {
			return nil, false
		}
		text := unquoted(t, value)
		if payload, err := base64.StdEncoding.DecodeString(text); err == nil && isCanonical(payload) {
			return jsontext.Value(fmt.Sprintf("{%q:%s}", recorded.Encoded, n.answer(t, payload))), true
		}
		if of, ok := drawn[name]; ok && len(of) == len(text) {
			return quoted(of), true
		}
		if slices.Contains(opaque, name) {
			n.remember(name, text)
		}
		return quoted(n.text(text)), true
	})
}

func rewritten(t *testing.T, body []byte, by recorded.Replace) jsontext.Value {
	value := jsontext.Value(bytes.TrimSpace(body))
	changed, err := recorded.Rewrite(value, by)
	assert.NoError(t, err)
	return changed
}

func isJSON(body []byte) bool { return len(body) > 0 && jsontext.Value(body).IsValid() }

func isCanonical(text []byte) bool {
	canonical := jsontext.Value(bytes.Clone(text))
	return canonical.Kind() == '{' && canonical.Canonicalize() == nil && bytes.Equal(canonical, text)
}

func quoted(text string) jsontext.Value {
	value, _ := jsontext.AppendQuote(nil, text)
	return value
}

func unquoted(t *testing.T, value jsontext.Value) (text string) {
	assert.NoError(t, json.Unmarshal(value, &text))
	return text
}
