package console

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	sdkerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
)

// Config are the settings of a console.
type Config struct {
	// Processor reads the payments, and stores the decisions. It need not be resumed. A reconciliation needs its
	// services; all else does without.
	Processor *payments.Processor
	// Author returns the name of the person who makes a request, as your login knows it: see payments.Decision.By for
	// what a name can be. It is called for each request. If it returns an error or no name, the response is 403, and
	// nothing is shown or stored. The error is logged and not shown.
	Author func(*http.Request) (string, error)
	// Secret makes the tokens of the pages. Processes that serve one console need the same, of 32 random bytes or
	// more. The zero value is a random one of this process.
	Secret moneymovement.Secret
	// Now is the clock of the tokens. The default is time.Now.
	Now func() time.Time
	// Logger receives a line for each request that is refused or fails. Nil is silent. The processor logs the
	// decisions.
	Logger *slog.Logger
}

// leastSecret is the fewest bytes of Config.Secret.
const leastSecret = 32

// New returns a console. Its pages have relative links, so it works below any path: strip the path, and keep the slash
// at its end. If the config has no Processor or no Author, or its Secret is too short, the error is
// *errors.InvalidInput.
func New(config Config) (http.Handler, error) {
	var wrong []sdkerrors.Field
	missing := func(name, what string) {
		wrong = append(wrong, sdkerrors.Field{Field: name, Code: sdkerrors.FieldMissing, Message: what})
	}
	if config.Processor == nil {
		missing("processor", "is nil: make one with payments.New")
	}
	if config.Author == nil {
		missing("author", "is nil: return the name of the person from your login, which is stored with each decision")
	}
	secret := config.Secret.Reveal()
	if secret != "" && len(secret) < leastSecret {
		wrong = append(wrong, sdkerrors.Field{Field: "secret", Code: "too_short",
			Message: fmt.Sprintf("has %d bytes, and needs %d random ones or more", len(secret), leastSecret)})
	}
	if len(wrong) > 0 {
		return nil, &sdkerrors.InvalidInput{CallInfo: sdkerrors.CallInfo{Operation: "console.New"}, Fields: wrong}
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	c := &console{processor: config.Processor, author: config.Author, now: config.Now, logger: config.Logger,
		tokens: tokens{secret: []byte(cmp.Or(secret, rand.Text()+rand.Text())), now: config.Now}}
	c.origins.SetDenyHandler(http.HandlerFunc(c.denyOrigin))
	return c.origins.Handler(http.HandlerFunc(c.serve)), nil
}

type console struct {
	processor *payments.Processor
	author    func(*http.Request) (string, error)
	now       func() time.Time
	logger    *slog.Logger
	tokens    tokens
	origins   http.CrossOriginProtection
}

// policy keeps the pages to themselves: no script, no frame, nothing from elsewhere.
const policy = "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// secure sets the headers of every response. With Referrer-Policy no-referrer, a browser would send the origin null
// with a form, which is not the same origin.
func secure(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// request is one request of a known person.
type request struct {
	*console
	w      http.ResponseWriter
	r      *http.Request
	author string
}

// maxForm is how many bytes a form may have.
const maxForm = 64 << 10

func (c *console) serve(w http.ResponseWriter, r *http.Request) {
	secure(w)
	author, err := c.author(r)
	if err != nil || strings.TrimSpace(author) == "" {
		c.logger.LogAttrs(r.Context(), slog.LevelWarn, "console: a request without a person is refused",
			slog.String("method", r.Method), slog.Any("error", err))
		http.Error(w, "Log in first.", http.StatusForbidden)
		return
	}
	q := &request{c, w, r, author}
	at := strings.TrimPrefix(r.URL.Path, "/")
	pages, known := map[string]map[string]func(){
		"":          {http.MethodGet: q.list},
		"payment":   {http.MethodGet: q.payment},
		"decide":    {http.MethodGet: q.ask, http.MethodPost: q.decide},
		"reconcile": {http.MethodGet: q.askReconcile, http.MethodPost: q.reconcile},
		"style.css": {http.MethodGet: q.style},
	}[at]
	switch {
	case r.URL.Path == "": // links would lead beside the console
		original, _, _ := strings.Cut(r.RequestURI, "?")
		w.Header().Set("Location", "./"+path.Base(original)+"/")
		w.WriteHeader(http.StatusSeeOther)
		return
	case !known, !strings.HasPrefix(r.URL.Path, "/"): // the second is of another path that begins like the console's
		q.fail(http.StatusNotFound, "There is no such page.")
		return
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	do, known := pages[method]
	if !known {
		w.Header().Set("Allow", strings.Join(allowed(pages), ", "))
		q.fail(http.StatusMethodNotAllowed, "This page does not take "+r.Method+".")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		q.fail(http.StatusBadRequest, "The form cannot be read.")
		return
	}
	do()
}

func allowed(pages map[string]func()) []string {
	if _, writes := pages[http.MethodPost]; writes {
		return []string{http.MethodGet, http.MethodHead, http.MethodPost}
	}
	return []string{http.MethodGet, http.MethodHead}
}

// denyOrigin refuses a form of another site.
func (c *console) denyOrigin(w http.ResponseWriter, r *http.Request) {
	secure(w)
	c.logger.LogAttrs(r.Context(), slog.LevelWarn, "console: a form of another site is refused",
		slog.String("origin", r.Header.Get("Origin")), slog.String("site", r.Header.Get("Sec-Fetch-Site")))
	http.Error(w, "The form is of another site. Nothing was stored. If this is the console's own page, let the proxy "+
		"before it keep the header Host.", http.StatusForbidden)
}

//go:embed style.css
var stylesheet string

func (q *request) style() {
	q.w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = q.w.Write([]byte(stylesheet))
}

//go:embed pages.html
var pagesText string

var pages = template.Must(template.New("pages").Parse(pagesText))

// head is what each page has.
type head struct {
	Title, Author string
	Now           string
}

// show writes a page. It is made in memory first, so that an error leaves no half of one.
func (q *request) show(status int, name, title string, body any) {
	var page strings.Builder
	err := pages.ExecuteTemplate(&page, "page", map[string]any{"Page": name, "Body": body,
		"Head": head{title, q.author, q.now().UTC().Format("2006-01-02 15:04:05") + " UTC"}})
	if err != nil {
		q.logger.LogAttrs(q.r.Context(), slog.LevelError, "console: a page cannot be written", slog.Any("error", err))
		http.Error(q.w, "This page cannot be written; the log says why.", http.StatusInternalServerError)
		return
	}
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.WriteHeader(status)
	_, _ = q.w.Write([]byte(page.String()))
}

// problem is a page that says what is wrong, with the payment that it is about.
type problem struct {
	Says string
	Key  moneymovement.Key
}

func (q *request) fail(status int, says string) { q.failAbout(status, says, "") }

func (q *request) failAbout(status int, says string, key moneymovement.Key) {
	q.logger.LogAttrs(q.r.Context(), slog.LevelWarn, "console: "+says, slog.String("by", q.author),
		slog.String("key", string(key)))
	q.show(status, "problem", http.StatusText(status), problem{says, key})
}

// storeFailed is the response to an error of the store, which the page does not show: it may name servers. wrote says
// that something was being stored.
func (q *request) storeFailed(err error, key moneymovement.Key, wrote bool) {
	if _, missing := errors.AsType[*payments.NotFound](err); missing {
		q.failAbout(http.StatusNotFound, "There is no payment with this key.", "")
		return
	}
	if damaged, unreadable := errors.AsType[*payments.Unreadable](err); unreadable {
		q.failAbout(http.StatusInternalServerError, "The stored payment cannot be read by this version, and is left "+
			"alone: "+damaged.Err.Error(), "")
		return
	}
	if q.r.Context().Err() == nil || !errors.Is(err, context.Canceled) {
		q.logger.LogAttrs(q.r.Context(), slog.LevelError, "console: the store failed", slog.String("by", q.author),
			slog.String("key", string(key)), slog.Any("error", err))
	}
	says := "The store of the payments could not be read. Try again; the log says why."
	if wrote {
		says = "The store failed. The decision may be stored or not: look at the payment before you decide again."
	}
	q.show(http.StatusServiceUnavailable, "problem", "The store failed", problem{says, key})
}
