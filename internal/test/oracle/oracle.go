// Package oracle records what the calls that move money come to in a test. Two versions of the SDK that behave alike
// have the same records. So a change that should change nothing is compared with the version before it: .ci/oracle
// records and compares.
//
// A case is one scripted run. Its lines are the requests that were sent, what was signed, and how each call ended, in
// order. Ids, nonces and times differ between two runs of one version, so they are masked.
package oracle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moneymovement/moneymovement-go/signing"
)

// variable names the folder for the records. Without it, nothing is recorded.
const variable = "MONEYMOVEMENT_ORACLE"

// Case has the lines of one case. A nil Case records nothing.
type Case struct {
	name string

	mu    sync.Mutex
	lines []string
}

// Begin returns the case of a test. It is written when the test ends. In a test that begins several, the later ones
// have a number.
func Begin(t testing.TB) *Case {
	t.Helper()
	c := Named(t.Name())
	if c != nil {
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return c
}

// Recording reports whether anything is recorded.
func Recording() bool { return os.Getenv(variable) != "" }

// Named returns a case of another name, which the caller must close.
func Named(name string) *Case {
	if !Recording() {
		return nil
	}
	return &Case{name: files.unique(name)}
}

// Close writes the case.
func (c *Case) Close() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return files.write(os.Getenv(variable), c.name, c.lines)
}

// End is how a call ended.
type End struct {
	State   string    // of the payment
	Unpaid  bool      // it is proven that no call with the key has paid or can still pay
	RetryAt time.Time // zero if the service did not say when
	Err     error     // it is shown to a person who looks for a difference, and is not compared
}

// Ended records how a call ended.
func (c *Case) Ended(end End) {
	if c == nil {
		return
	}
	if end.State == "unknown" {
		end.State = "in_doubt"
	}
	line := "ended " + end.State
	if end.Unpaid {
		line += ", unpaid"
	}
	if !end.RetryAt.IsZero() {
		line += ", retry in " + time.Until(end.RetryAt).Round(time.Second).String()
	}
	c.add(line, end.Err)
}

// Sent records a request.
func (c *Case) Sent(r *http.Request) {
	if c == nil {
		return
	}
	line := "sent " + r.Method + " " + template(r)
	if r.Header.Get("Idempotency-Key") != "" {
		line += " with its key"
	}
	c.add(line, nil)
}

// Signed records a message that was signed.
func (c *Case) Signed(message []byte) {
	if c != nil {
		c.add("signed "+members(message), nil)
	}
}

// Handler returns a handler that records the requests that come to it.
func (c *Case) Handler(next http.Handler) http.Handler {
	if c == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.Sent(r)
		next.ServeHTTP(w, r)
	})
}

// Signer returns a signer that records what it signs.
func (c *Case) Signer(next signing.Signer) signing.Signer {
	if c == nil {
		return next
	}
	return signer{next, c}
}

type signer struct {
	signing.Signer

	of *Case
}

// Sign implements signing.Signer.
func (s signer) Sign(ctx context.Context, message []byte) ([]byte, error) {
	s.of.Signed(message)
	return s.Signer.Sign(ctx, message)
}

func (c *Case) add(line string, shown error) {
	if shown != nil {
		text, _, _ := strings.Cut(shown.Error(), "\n")
		line += fmt.Sprintf("%s%T: %s", notCompared, shown, text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, line)
}

// notCompared begins what is in a line only for a person.
const notCompared = "  # "

// files are what all cases of a test program are written to.
var files = &writer{taken: map[string]int{}}

type writer struct {
	mu    sync.Mutex
	taken map[string]int
}

// unique adds a number to a name that was there before.
func (w *writer) unique(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken[name]++
	if n := w.taken[name]; n > 1 {
		name = fmt.Sprintf("%s#%d", name, n)
	}
	return strings.ReplaceAll(name, " ", "_")
}

// write appends a case to two files: its name and digest, and each of its lines behind the name and a number. So sort
// and diff compare both.
func (w *writer) write(folder, name string, lines []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	sum, shown := sha256.New(), strings.Builder{}
	for i, line := range lines {
		compared, _, _ := strings.Cut(line, notCompared)
		fmt.Fprintln(sum, compared)
		fmt.Fprintf(&shown, "%s %04d %s\n", name, i, line)
	}
	digest := fmt.Sprintf("%s %s\n", name, hex.EncodeToString(sum.Sum(nil)[:12]))
	suite := strings.TrimSuffix(filepath.Base(os.Args[0]), ".test")
	return errors.Join(appendTo(filepath.Join(folder, suite+".digests"), digest),
		appendTo(filepath.Join(folder, suite+".lines"), shown.String()))
}

func appendTo(name, text string) error {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //gosec:disable G304 G703 -- ours
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// template is the path of a request with a star in the place of each id and key, and the names of its query.
func template(r *http.Request) string {
	parts := strings.Split(r.URL.Path, "/")
	for i, part := range parts {
		if strings.ContainsFunc(part, func(c rune) bool { return (c < 'a' || c > 'z') && c != '-' }) && part != "v1" ||
			i > 0 && parts[i-1] == "actions" {
			parts[i] = "*"
		}
	}
	path := strings.Join(parts, "/")
	var names []string
	for name := range r.URL.Query() {
		names = append(names, name)
	}
	if len(names) > 0 {
		slices.Sort(names)
		path += "?" + strings.Join(names, "&")
	}
	return path
}
