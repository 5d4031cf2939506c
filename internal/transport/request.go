package transport

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Request is one call before it is sent. The generated client fills it. It collects problems, and [Do] then refuses the
// call.
type Request struct {
	op      *Operation
	call    Call
	check   Check
	path    string // escaped, below the base path
	about   string // the first id in the path
	query   url.Values
	account string
	acting  [1]string   // account, as the value of its header
	key     [1]string   // idempotency key, as the value of its header
	headers http.Header // of this operation
	body    any
	hasBody bool
	encoder func(*wire.Writer) // of body; nil for the general one
	stream  *streaming         // set to read a stream in place of a decoded response
	target  url.URL            // of all attempts; set by [Do]
	sent    bytes.Reader       // of the first attempt
	tracker tracker            // of [Do]
}

// NewRequest starts a call of an operation for an account. An empty account is the credential's own account.
func NewRequest(op *Operation, account string, call Call) *Request {
	return &Request{op: op, call: call, path: op.Path, account: account, acting: [1]string{account},
		key: [1]string{string(call.Key)}}
}

// PathParam puts a value into the path template. It refuses a value that could be read as another path, even if the
// rule allows it.
func (r *Request) PathParam(name, value string, rule Rule) {
	rule.Required = true
	if r.about == "" {
		r.about = value
	}
	if r.check.Segment(name, value) {
		r.check.Text(name, value, rule)
	}
	if before, after, found := strings.Cut(r.path, "{"+name+"}"); found {
		r.path = before + url.PathEscape(value) + after
	}
}

// Header adds a header. An empty value is left out.
func (r *Request) Header(name, value string) {
	if value == "" {
		return
	}
	r.check.Header(name, value, Rule{})
	if r.headers == nil {
		r.headers = http.Header{}
	}
	r.headers.Set(name, value)
}

// Query adds a query parameter. A zero value is left out. A non-nil pointer is sent, even if it points to zero.
func (r *Request) Query(name string, value any) {
	text, ok := wire.QueryText(value)
	if !ok {
		return
	}
	if r.query == nil {
		r.query = url.Values{}
	}
	r.query.Set(name, text)
}

// Body sets the value of the body, and its generated check.
func (r *Request) Body(body any, validate func(*Check)) {
	r.body, r.hasBody = body, true
	if validate != nil {
		validate(&r.check)
	}
}

// Encoder sets the generated encoder of a body. It is for bodies that are sent often.
func (r *Request) Encoder(encode func(*wire.Writer)) { r.encoder = encode }

// Check returns the validation of the request, so that a surface can add its own rules.
func (r *Request) Check() *Check { return &r.check }

// http returns the request of every attempt, without context and header. The first attempt uses its body.
func (r *Request) http(c *Client, body []byte) http.Request {
	req := http.Request{
		Method: r.op.Method, URL: &r.target, Host: c.base.Host, Header: noHeader, Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1,
	}
	if body != nil {
		sent := &r.sent
		if sent.Size() > 0 { // the call is sent again, and net/http may still read the body of an earlier attempt
			sent = new(bytes.Reader)
		}
		sent.Reset(body)
		// net/http knows this type. It sends the header of any other body as a packet of its own.
		req.Body, req.ContentLength = io.NopCloser(sent), int64(len(body))
	} else if r.call.Key != "" {
		req.Body = emptyBody{}
	}
	return req
}

// emptyBody is the body of a write that has a key and no body. net/http sends the request once, because it cannot know
// that the body can be sent again.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

// aim joins the base URL and the path, without parsing the URL again.
func (r *Request) aim(c *Client) {
	r.target = *c.base
	setPath(&r.target, c.basePath+r.path)
	if r.query != nil {
		r.target.RawQuery = r.query.Encode()
	}
}

// setPath sets a path that is already escaped.
func setPath(u *url.URL, escaped string) {
	if strings.IndexByte(escaped, '%') < 0 { // the usual case
		u.Path, u.RawPath = escaped, ""
		return
	}
	u.RawPath = escaped
	u.Path, _ = url.PathUnescape(escaped)
	if u.Path == escaped {
		u.RawPath = ""
	}
}

// header returns the header of every attempt, without the credential. Its values are shared: never change them.
func (r *Request) header(c *Client) http.Header {
	h := make(http.Header, 8)
	h["Accept"] = acceptJSON
	h["User-Agent"] = c.userAgent
	if r.hasBody {
		h["Content-Type"] = contentJSON
	}
	if r.account != "" {
		h["X-Service-Account"] = r.acting[:]
	}
	maps.Copy(h, r.headers)
	return h
}

var (
	acceptJSON  = []string{"application/json"}
	contentJSON = []string{"application/json"}
	noHeader    = http.Header{}
)
