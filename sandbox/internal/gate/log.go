package gate

import (
	"strings"
	"sync"
	"time"
)

// Entry is one request as the host saw it. It holds no secrets: of the headers only the idempotency key, and no body.
// If method or path are longer than 1,024 bytes, they are cut and end with "…".
type Entry struct {
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
}

// DefaultLogLength is how many requests a log holds if nobody says otherwise.
const DefaultLogLength = 4096

// maxLogged is how many bytes of a caller's text the log holds. The longest path of an operation has half as many.
const maxLogged = 1024

// short returns a copy: a slice would keep the whole text in memory.
func short(text string) string {
	if len(text) <= maxLogged {
		return text
	}
	return strings.ToValidUTF8(text[:maxLogged], "") + "…"
}

// Log holds the latest requests. The zero Log holds none. It is safe for concurrent use.
type Log struct {
	length int

	mu      sync.Mutex
	entries []Entry // a ring buffer when it is full
	next    int
}

// NewLog returns a log that holds the latest requests, as many as length says.
func NewLog(length int) *Log { return &Log{length: length} }

func (l *Log) add(entry Entry) {
	if l.length == 0 {
		return
	}
	entry.Method, entry.Path = short(entry.Method), short(entry.Path)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) < l.length {
		l.entries = append(l.entries, entry)
		return
	}
	l.entries[l.next] = entry
	l.next = (l.next + 1) % l.length
}

// Entries returns the entries, oldest first.
func (l *Log) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := make([]Entry, 0, len(l.entries))
	entries = append(entries, l.entries[l.next:]...)
	return append(entries, l.entries[:l.next]...)
}

// Clear deletes all entries.
func (l *Log) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries, l.next = nil, 0
}
