package transport

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Request is one call: what is sent, and what is known about its attempts. The generated client fills it. It collects
// problems, and [Do] then refuses the call.
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

	// These are set by Do, for all attempts.
	client  *Client
	auth    Authorizer // nil for no credential
	target  url.URL
	encoded []byte // the body

	// header is the header of the last attempt, with the credential. It shows the authorizer which token was refused.
	header    http.Header
	attempts  int                    // sent so far
	began     time.Time              // when the first attempt was sent
	silence   time.Duration          // of the attempts without a response, and of the pauses after them
	askedBack time.Time              // the end of the pause that the service asked for
	noTime    bool                   // the deadline left no room for another attempt
	lost      bool                   // an attempt got no complete response, and may have been carried out
	doubted   bool                   // an earlier attempt got a server error, and may have been carried out
	unsent    bool                   // the last attempt had no connection, so the service cannot have received it
	final     bool                   // the last attempt's connection failed in a way that a next one would fail too
	answer    answer                 // of the last attempt; empty if it was lost or will be repeated
	unread    []moneymovement.Unread // of the response
	shown     bool                   // the response held the resource
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

// begin prepares a request that is sent by a client. A request can be sent again.
func (r *Request) begin(c *Client) {
	r.client, r.auth, r.target = c, c.authorizer(&r.call), *c.base
	setPath(&r.target, c.basePath+r.path) // without parsing the URL again
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

// newHeader returns the header of an attempt, without the credential. Its values are shared: never change them. Each
// attempt has a header of its own, because the connection of an earlier one may still read that.
func (r *Request) newHeader() http.Header {
	h := make(http.Header, 8)
	h["Accept"] = acceptJSON
	h["User-Agent"] = r.client.userAgent
	if r.hasBody {
		h["Content-Type"] = contentJSON
	}
	if r.account != "" {
		h["X-Service-Account"] = r.acting[:]
	}
	if r.call.Key != "" {
		h[keyHeader] = r.key[:]
	}
	maps.Copy(h, r.headers)
	return h
}

var (
	acceptJSON  = []string{"application/json"}
	contentJSON = []string{"application/json"}
)
