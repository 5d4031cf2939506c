package gate

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Entry is a request in the log.
type Entry struct {
	Request
	Seeded bool `json:"seeded,omitzero"` // whether -seed of the command made it
}

// Request is one request as the host saw it. It holds no secrets: of the headers only the idempotency key, and no body.
// If method or path are longer than 1,024 bytes, they are cut and end with "…".
type Request struct {
	// ID is the number of the request, from 1. A log that is cleared goes on with the next number.
	ID             int       `json:"id"`
	Time           time.Time `json:"time"`
	Method         string    `json:"method"`
	Path           string    `json:"path"`
	Operation      string    `json:"operation,omitzero"` // operationId; "" if no operation was reached
	Status         int       `json:"status"`             // 0 if the connection was closed without a response
	Slug           string    `json:"slug,omitzero"`
	RequestID      string    `json:"requestId"`
	IdempotencyKey string    `json:"idempotencyKey,omitzero"`
	Account        string    `json:"account,omitzero"` // a client's id or self; "" without a session
	Fault          string    `json:"fault,omitzero"`   // the kind of the consumed fault

	// ResourceID is the last id in the path.
	ResourceID string `json:"resourceId,omitzero"`
	// Attempt counts the requests with the same method, path, account and key, from 1.
	Attempt int `json:"attempt,omitzero"`
	// Repeated reports that the request arrived a second time through a fault.
	Repeated bool `json:"repeated,omitzero"`
	// BodyDigest is the same for the same body. It is "" without a body, or if the body was not read.
	BodyDigest string `json:"bodyDigest,omitzero"`
	// Replayed reports that the operation did nothing, because an earlier request did it.
	Replayed bool `json:"replayed"`
	// Duration is how long the host took until it had a response, on the machine's clock.
	Duration time.Duration `json:"-"`
}

// DefaultLogLength is how many requests a log holds by default.
const DefaultLogLength = 4096

// DefaultRecorded is how many of the latest requests a host with controls keeps headers and bodies of.
const DefaultRecorded = 1000

// maxLogged is how many bytes of a caller's text the log holds. The longest path of an operation has half as many.
const maxLogged = 1024

// truncatePath returns a copy: a slice would keep the whole text in memory.
func truncatePath(text string) string {
	if len(text) <= maxLogged {
		return text
	}
	return strings.ToValidUTF8(text[:maxLogged], "") + "…"
}

// Log holds the latest requests. The zero Log holds none. It is safe for concurrent use.
type Log struct {
	length int

	mu        sync.Mutex
	id        string
	entries   []Entry // a ring buffer when it is full
	next      int
	last      int         // the number of the last entry
	exchanges []*Exchange // of the latest requests, by number; nil without a recording
	listeners map[chan struct{}]struct{}
}

// NewLog returns a log that holds the latest requests, as many as length says.
func NewLog(length int) *Log { return &Log{id: rand.Text(), length: length} }

// ID is that of this log until it is cleared. The logs of two hosts have the same numbers, and never the same id.
func (l *Log) ID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id
}

// Record makes the log keep what was sent and received in the latest requests, as many as length says.
func (l *Log) Record(length int) { l.exchanges = make([]*Exchange, min(length, l.length)) }

// records reports whether the log keeps what was sent.
func (l *Log) records() bool { return len(l.exchanges) > 0 }

// add adds an entry, and returns it as it was added. sent is nil without a recording.
func (l *Log) add(entry Entry, exchange *Exchange) Entry {
	entry.Method, entry.Path = truncatePath(entry.Method), truncatePath(entry.Path)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	entry.ID = l.last
	if exchange != nil {
		l.exchanges[entry.ID%len(l.exchanges)] = exchange
	}
	switch {
	case l.length == 0:
		return entry
	case len(l.entries) < l.length:
		l.entries = append(l.entries, entry)
	default:
		l.entries[l.next] = entry
		l.next = (l.next + 1) % l.length
	}
	l.wake()
	return entry
}

// Entries returns the entries, oldest first.
func (l *Log) Entries() []Entry { return l.After(0) }

// After returns the entries with larger numbers, oldest first.
func (l *Log) After(number int) []Entry {
	_, entries := l.EntriesSince(number)
	return entries
}

// EntriesSince returns the entries with larger numbers, oldest first, and the id of the log that has them.
func (l *Log) EntriesSince(after int) (id string, entries []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.last - len(l.entries) + 1 // numbers have no gaps
	skipped := min(max(after-first+1, 0), len(l.entries))
	entries = make([]Entry, 0, len(l.entries)-skipped)
	for i := skipped; i < len(l.entries); i++ {
		entries = append(entries, l.entries[(l.next+i)%len(l.entries)])
	}
	return l.id, entries
}

// Get returns the entry with a number, and what was sent if the log still has it.
func (l *Log) Get(id int) (entry Entry, exchange Exchange, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := id - (l.last - len(l.entries) + 1)
	if at < 0 || at >= len(l.entries) {
		return Entry{}, Exchange{}, false
	}
	if kept := len(l.exchanges); kept > 0 && id > l.last-kept && l.exchanges[id%kept] != nil {
		exchange = *l.exchanges[id%kept]
	}
	return l.entries[(l.next+at)%len(l.entries)], exchange, true
}

// Last returns the number of the last entry, or 0.
func (l *Log) Last() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Clear deletes all entries.
func (l *Log) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.id, l.entries, l.next = rand.Text(), nil, 0
	clear(l.exchanges)
	l.wake()
}

// Listen returns a channel that receives after entries were added, and a function that ends this. A listener that is
// busy is not waited for: it receives once for all that happened meanwhile.
func (l *Log) Listen() (woken <-chan struct{}, stop func()) {
	listener := make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listeners == nil {
		l.listeners = map[chan struct{}]struct{}{}
	}
	l.listeners[listener] = struct{}{}
	return listener, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.listeners, listener)
	}
}

// Wake makes all listeners receive.
func (l *Log) Wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake()
}

// wake must be called with the lock held.
func (l *Log) wake() {
	for listener := range l.listeners {
		select {
		case listener <- struct{}{}:
		default: // it has not received the last one yet
		}
	}
}

// The bounds of what is kept of one message.
const (
	maxKeptBody    = 16 << 10 // bytes
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

// NewMessage records a message. It keeps a short body without a copy, so the caller must not change it.
func NewMessage(header http.Header, query string, body []byte) *Message {
	m := &Message{
		headers: make(map[string]string, len(header)), query: truncateHeader(query), body: body, length: len(body),
	}
	if len(body) > maxKeptBody {
		m.body = bytes.Clone(body[:maxKeptBody]) // a slice would keep the whole body in memory
	}
	for name, values := range header {
		if len(m.headers) == maxHeaders {
			break
		}
		m.headers[truncateHeader(name)] = truncateHeader(maskHeader(name, strings.Join(values, ", ")))
	}
	return m
}

func truncateHeader(text string) string {
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

// MessageView is a message without its secrets.
type MessageView struct {
	Headers map[string]string `json:"headers"`
	Query   string            `json:"query,omitzero"`
	Body    string            `json:"body"`
	// Truncated reports that the body was longer than what is kept.
	Truncated bool `json:"truncated"`
}

// View returns what people may see of a message, or nil for nil.
func (m *Message) View(mask Mask) *MessageView {
	if m == nil {
		return nil
	}
	view := &MessageView{
		Headers: make(map[string]string, len(m.headers)), Query: mask.query(m.query),
		Truncated: m.length > len(m.body),
	}
	for name, value := range m.headers {
		view.Headers[name] = mask.Text(value)
	}
	view.Body = mask.body(m.body, m.length)
	return view
}
