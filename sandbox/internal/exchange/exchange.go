// Package exchange keeps what a caller and the host sent to each other, for people who look for a mistake. It shows the
// texts without the secrets in them.
package exchange

import (
	"bytes"
	"net/http"
	"strings"
)

// The bounds of what is kept of one message.
const (
	maxBody        = 16 << 10 // bytes
	maxHeaders     = 64
	maxHeaderValue = 1024 // bytes
)

// Exchange is a request and its response.
type Exchange struct {
	Request  *Message
	Response *Message // nil without a response
}

// Message is what one side sent. It still has the secrets of its body, which only [Message.View] leaves out.
type Message struct {
	headers map[string]string
	query   string
	body    []byte
	length  int // of the whole body
}

// NewMessage keeps a message. It keeps the body itself if it is short, so that nobody may change it.
func NewMessage(header http.Header, query string, body []byte) *Message {
	m := &Message{headers: make(map[string]string, len(header)), query: cut(query), body: body, length: len(body)}
	if len(body) > maxBody {
		m.body = bytes.Clone(body[:maxBody]) // a slice would keep the whole body in memory
	}
	for name, values := range header {
		if len(m.headers) == maxHeaders {
			break
		}
		m.headers[cut(name)] = cut(hidden(name, strings.Join(values, ", ")))
	}
	return m
}

func cut(text string) string {
	if len(text) <= maxHeaderValue {
		return strings.Clone(text)
	}
	return strings.ToValidUTF8(text[:maxHeaderValue], "") + "…"
}

// Body returns what is kept of the body, with its secrets. It is nil for nil.
func (m *Message) Body() []byte {
	if m == nil {
		return nil
	}
	return m.body
}

// Header returns a header, or "" for nil.
func (m *Message) Header(name string) string {
	if m == nil {
		return ""
	}
	return m.headers[name]
}

// View is a message without its secrets.
type View struct {
	Headers map[string]string `json:"headers"`
	Query   string            `json:"query,omitzero"`
	Body    string            `json:"body"`
	// Truncated reports that the body was longer than what is kept.
	Truncated bool `json:"truncated"`
}

// View returns what people may see of a message, or nil for nil.
func (m *Message) View(mask Mask) *View {
	if m == nil {
		return nil
	}
	view := &View{
		Headers: make(map[string]string, len(m.headers)), Query: mask.query(m.query),
		Truncated: m.length > len(m.body),
	}
	for name, value := range m.headers {
		view.Headers[name] = mask.Text(value)
	}
	view.Body = mask.body(m.body, m.length)
	return view
}
