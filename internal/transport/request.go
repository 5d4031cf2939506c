package transport

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Operation is what the description says about one operation. The generator writes one variable for each.
type Operation struct {
	ID     string // OpenAPI operationId, such as "BookPayout"
	Method string
	Path   string // template below the surface's base path, such as "/payouts/{payoutId}"
	Repeat Repeat
	Money  Money
	Window moneymovement.Window
	Public bool // carries no credential

	SecretRequest  bool // the request body holds secrets
	SecretResponse bool // a successful response holds secrets

	Response       *wire.Response // of a success in JSON; nil if nothing is known about it
	ResultUnstated bool           // the description does not say what a success returns; the shape is assumed

	Derives bool        // without a key the service derives one from the request
	Terms   []wire.Term // the members that an idempotency key is bound to, and how they are compared
	Owner   string      // the kind of id that a used key belongs to: payoutId or escrowId; "" if it is not stated

	KeyInPath bool // the idempotency key is part of the path of the call that confirms
}

// Repeat says whether an operation can happen twice if a call is repeated after a lost response.
type Repeat string

const (
	RepeatKey     Repeat = "key"     // the write has an idempotency key
	RepeatNatural Repeat = "natural" // the write has a natural key or sets a state
	RepeatNever   Repeat = "none"    // it may happen twice
)

// Money says whether an operation can move money. If the description does not say, it can.
type Money string

const (
	// MoneyNone marks a write that never moves money, such as the creation of a contact, a verification or a login. An
	// operation with an idempotency key is never marked so. A booking itself moves nothing, but its key may belong to a
	// payment that an earlier call has confirmed.
	MoneyNone Money = "none"
	// MoneyAtOnce marks a write with an idempotency key that moves money itself: no second call confirms it.
	MoneyAtOnce Money = "at-once"
)

// write reports whether the operation can change anything.
func (o *Operation) write() bool { return o.Method != http.MethodGet }

// Call holds the settings of one call: those of the caller's options, and those that only the SDK sets.
type Call struct {
	moneymovement.CallSettings

	// Counted is a further window that counts the call, by something in its body. By default there is no such window.
	Counted struct {
		Window moneymovement.Window
		Scope  string
	}

	Class    moneymovement.RateClass // in the rate windows; "" for the operation's class
	Closes   time.Time               // of a confirm: when its approval expires, by the service's clock
	Reserved bool                    // [Client.Reserve] has taken the first attempt's slots in the rate windows
	Queued   time.Duration           // how long Reserve waited

	Auth Authorizer // the credential for the whole call; nil for the client's
}

// Origin is what the further requests of a method have from the call that they belong to.
type Origin struct {
	Auth   Authorizer  // nil for the client's
	Header http.Header // of [moneymovement.Header]
}

// origin returns what a read after this write has from it.
func (r *Request) origin() Origin { return Origin{r.auth, r.call.Header} }

// clearCaptures empties the responses that the call stores, which may be those of an earlier call.
func (c *Call) clearCaptures() {
	for _, all := range [...][]*moneymovement.Response{c.Capture, c.CaptureRevealing} {
		for _, into := range all {
			*into = moneymovement.Response{}
		}
	}
}

// Request is one call: what is sent, and what is known about its attempts. The generated client fills it. It collects
// problems, and [Do] then refuses the call.
type Request struct {
	op           *Operation
	call         Call
	check        Check
	path         string // escaped, below the base path
	pathID       string // the first id in the path
	query        url.Values
	account      string
	accountValue [1]string   // account, as the value of its header
	keyValue     [1]string   // idempotency key, as the value of its header
	headers      http.Header // of this operation
	body         any
	hasBody      bool
	encoder      func(*wire.Writer) // of body; nil for the general one
	stream       *streaming         // set to read a stream in place of a decoded response

	// These are set by Do, for all attempts.
	client   *Client
	auth     Authorizer // nil for no credential
	target   url.URL
	encoded  []byte    // the body
	observed *observed // nil if nobody observes the call

	// header is the header of the last attempt, with the credential. It shows the authorizer which token was refused.
	header       http.Header
	attempts     int                    // sent so far
	began        time.Time              // when the first attempt was sent
	silence      time.Duration          // of the attempts without a response, and of the pauses after them
	pausedUntil  time.Time              // the end of the pause that the service asked for
	noTime       bool                   // the deadline left no room for another attempt
	lost         bool                   // an attempt got no complete response; it may have been carried out
	serverFailed bool                   // an earlier attempt got a server error; it may have been carried out
	unsent       bool                   // the last attempt had no connection, so the service cannot have received it
	final        bool                   // the last attempt's connection failed in a way that a next one would fail too
	response     response               // of the last attempt; empty if it was lost or will be repeated
	unread       []moneymovement.Unread // of the response
	hasResource  bool                   // the response held the resource
}

// NewRequest starts a call of an operation for an account. An empty account is the credential's own account.
func NewRequest(op *Operation, account string, call Call) *Request {
	return &Request{op: op, call: call, path: op.Path, account: account, accountValue: [1]string{account},
		keyValue: [1]string{string(call.Key)}}
}

// PathParam puts a value into the path template. It refuses a value that could be read as another path, even if the
// rule allows it.
func (r *Request) PathParam(name, value string, rule Rule) {
	rule.Required = true
	if r.pathID == "" {
		r.pathID = value
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

// prepare prepares a request that is sent by a client. A request can be sent again.
func (r *Request) prepare(c *Client) {
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
		h["X-Service-Account"] = r.accountValue[:]
	}
	if r.call.Key != "" {
		h[keyHeader] = r.keyValue[:]
	}
	maps.Copy(h, r.headers)
	maps.Copy(h, r.call.Header) // which has none of the names above
	return h
}

var (
	acceptJSON  = []string{"application/json"}
	contentJSON = []string{"application/json"}
)

// Encoded is a body that is JSON already, such as a document that was encoded while it was read.
type Encoded []byte

// encode encodes the body once for all attempts.
func (r *Request) encode() (err error) {
	if !r.hasBody {
		return nil
	}
	if encoded, done := r.body.(Encoded); done {
		r.encoded = encoded
		return nil
	}
	if r.encoder != nil {
		var ok bool
		if r.encoded, ok = wire.Write(r.encoder); ok {
			return nil
		}
	}
	if r.op.SecretRequest {
		r.encoded, err = wire.MarshalRevealing(r.body)
	} else {
		r.encoded, err = wire.Marshal(r.body)
	}
	return err
}

// KeyRule is the stated pattern of an idempotency key.
var KeyRule = Rule{Required: true, Pattern: `^[A-Za-z0-9._:-]{1,128}$`}

// keyField is the name of the key in an *errors.InvalidInput.
const keyField = "Idempotency-Key"

// keyHeader is canonical, so that a fake, a proxy or a recorder finds it with Header.Get. net/http would repeat a
// request with this header by itself when a kept connection fails, if its body is nil or http.NoBody, or has GetBody.
// Neither the retry policy nor the attempt count would notice. So a write with a key has a body of another kind: see
// sending.prepare.
const keyHeader = "Idempotency-Key"

// RequireKey refuses a call that moves money without a key from the caller. The program must be able to make the key
// again: a key that is lost when the program stops allows a second payment.
func RequireKey(op *Operation, key string) error {
	return Validate(op.ID, func(c *Check) { c.RequiredKey(op, key) })
}

// RequiredKey is the check of [RequireKey].
func (c *Check) RequiredKey(op *Operation, key string) {
	if key == "" {
		c.Refuse(keyField, errors.FieldMissing,
			"is required where money moves: make one with moneymovement.DeriveKey, such as from the invoice's id")
		return
	}
	c.key(op, key)
}

// key checks a key. The keys . and .. match the stated pattern, but no path can have them as a segment: the call that
// confirms would go to another place.
func (c *Check) key(op *Operation, key string) {
	if op.KeyInPath && (key == "." || key == "..") {
		c.Refuse(keyField, "pattern", "must not be . or .. here, because the key is part of a path: use another key")
		return
	}
	c.Text(keyField, key, KeyRule)
}

// idempotency checks the caller's key. A write without a key sends none.
func (r *Request) idempotency() {
	switch {
	case r.call.Key == "":
	case r.op.write():
		r.check.key(r.op, string(r.call.Key))
	default:
		r.check.Refuse(keyField, "not_applicable", "is not allowed for a read: leave it out")
	}
}

// derivedKeyLifetime is how long the service repeats its first response to a write without a key, if it derives keys.
// It is a little shorter than the stated time, because a repeated request needs time to arrive.
const derivedKeyLifetime = 2*time.Hour - time.Minute

// repeatable reports whether the request may be sent again although an earlier attempt may have been carried out.
func (r *Request) repeatable() bool {
	switch {
	case !r.op.write(), r.op.Repeat == RepeatNatural:
		return true
	case r.op.Repeat != RepeatKey:
		return false
	case r.call.Key != "":
		return true
	}
	return r.op.Derives && time.Since(r.began) < derivedKeyLifetime
}

// stillRepeatable stops an attempt that waited too long in a queue: the service may have forgotten the earlier attempt.
func (r *Request) stillRepeatable() error {
	if r.inDoubt() && !r.repeatable() {
		return errForgotten
	}
	return nil
}

var errForgotten = errors.New("not sent again: the service may have forgotten the first attempt by now")

// resolve returns the advice on how to find out whether a write was carried out.
func (r *Request) resolve() string {
	switch {
	case !r.repeatable():
		return "read the resource before you repeat the request"
	case r.call.Key != "":
		return "repeat the same request with the same idempotency key"
	case r.op.Repeat == RepeatKey:
		until := r.began.Add(derivedKeyLifetime).UTC().Format(time.RFC3339)
		return "repeat the same request before " + until + "; after that, read the resource first"
	}
	return "repeat the same request"
}
