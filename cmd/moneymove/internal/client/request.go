package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Request is a request that is not sent yet. [Plan] makes one.
type Request struct {
	Key    string // the idempotency key, or empty
	Header http.Header
	Body   []byte

	where     *Target
	operation Operation
	described bool
	method    string
	url       *url.URL
	client    string // to act for
}

// Response is what the host sent.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

var methods = regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE)$`)

// Plan reads the method and the path of a request, and chooses the client to act for. clientFlagSet says that the
// command line names a client: if the operation takes none, that is an error. A client of the environment is then left
// out.
func Plan(where *Target, method, path string, clientFlagSet bool) (*Request, error) {
	if !methods.MatchString(method) {
		return nil, app.Usagef("the method is %q: give GET, POST, PUT, PATCH or DELETE, and then the path", method)
	}
	base, err := where.BaseURL()
	if err != nil {
		return nil, err
	}
	inside, err := readPath(path)
	if err != nil {
		return nil, err
	}
	r := &Request{Header: http.Header{}, where: where, method: method}
	full := *base
	full.Path, full.RawQuery = base.Path+inside.Path, escapedQuery(inside.RawQuery)
	full.RawPath = ""
	if inside.RawPath != "" {
		full.RawPath = base.EscapedPath() + inside.RawPath
	}
	r.url = &full
	if err := r.describe(inside.Path); err != nil {
		return nil, err
	}
	return r, r.chooseClient(clientFlagSet)
}

// escapedQuery escapes what cannot be in a request line, and changes nothing that is escaped already.
func escapedQuery(raw string) string {
	var escaped strings.Builder
	for i := range len(raw) {
		if b := raw[i]; b <= ' ' || b >= 0x7f {
			fmt.Fprintf(&escaped, "%%%02X", b)
		} else {
			escaped.WriteByte(b)
		}
	}
	return escaped.String()
}

// readPath refuses paths that could belong to another surface than they seem to.
func readPath(path string) (*url.URL, error) {
	inside, err := url.Parse(path)
	switch {
	case err != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//"):
		return nil, app.Usagef("the path is %q: begin it with /, such as /dapi/v1/chains; -url has the host", path)
	case inside.Fragment != "":
		return nil, app.Usagef("the path has a # in it: write %%23 for that character")
	}
	for segment := range strings.SplitSeq(inside.EscapedPath(), "/") {
		if plain, err := url.PathUnescape(segment); err != nil || plain == "." || plain == ".." ||
			strings.Contains(plain, "/") {
			return nil, app.Usagef("the path has the segment %q, which could lead elsewhere: write it in full", segment)
		}
	}
	if strings.HasPrefix(inside.Path, "/_") {
		return nil, app.Usagef("%s is not of the service: for the controls of a sandbox host there are commands of "+
			"their own, see moneymove -h", inside.Path)
	}
	return inside, nil
}

// describe finds the operation. A call that is not described is sent as well: the service may have more operations.
func (r *Request) describe(path string) error {
	var err error
	if r.operation, r.described, err = Find(r.method, path); err != nil {
		return err
	}
	if !r.described {
		r.operation = Operation{
			ID: r.method + " " + path, Surface: SurfaceOf(path),
		}
		platform := r.operation.Surface == Platform
		r.operation.TakesKey = r.writes() && platform
		r.operation.TakesClient = platform
	}
	if id := r.operation.ID; id == "CreateToken" || id == "RefreshToken" {
		return app.Usagef("the response to %s holds tokens, so it is not sent: use moneymove login and "+
			"moneymove token", path)
	}
	return nil
}

func (r *Request) writes() bool { return r.method != http.MethodGet }

func (r *Request) chooseClient(clientFlagSet bool) error {
	if r.operation.Surface != Platform || !r.operation.TakesClient {
		if clientFlagSet {
			return app.Usagef("%s acts for no client: leave out -as", r.operation.ID)
		}
		return nil
	}
	client, err := r.where.Client()
	if err == nil && client != "" {
		r.where.ExplainClient(client)
	}
	r.client = string(client)
	return err
}

var keyForm = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// check refuses what must not be sent.
func (r *Request) check() error {
	switch {
	case r.Key == "" && r.operation.Keyed == ByKey:
		return app.Usagef("%s needs an idempotency key, so that it is never done twice: give -key with a name of "+
			"this one payment or action, such as -key invoice-42, and give the same key when you repeat the call",
			r.operation.ID)
	case r.Key != "" && !r.operation.TakesKey:
		return app.Usagef("%s takes no idempotency key: leave out -key", r.operation.ID)
	case r.Key != "" && !keyForm.MatchString(r.Key):
		return app.Usagef("-key has 1 to 128 letters, digits, and the characters . _ : -")
	case len(r.Body) > 0 && !r.writes():
		return app.Usagef("GET has no body: leave out -d")
	case len(r.Body) > 0 && r.Header.Get("Content-Type") == "" && !jsontext.Value(r.Body).IsValid():
		return app.Usagef("the body is not valid JSON; to send it all the same, name its type with -H Content-Type:...")
	}
	return nil
}

// maxBody is the largest response that is read.
const maxBody = 64 << 20

// Send sends the request, and returns the response if there is one, also with an error. The errors are those of the
// SDK: a refusal, *errors.NotDelivered, *errors.InDoubt, *errors.UnexpectedResponse.
func (r *Request) Send(ctx context.Context) (*Response, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if !r.platformSession() {
		token, err := r.credential()
		if err != nil {
			return nil, err
		}
		return r.sendOnce(ctx, token)
	}
	session, err := r.where.KeptSession(ctx)
	if err != nil {
		return nil, err
	}
	if session.AccessToken.IsZero() || !time.Now().Before(session.ExpiresAt) {
		if session, err = r.where.Session(ctx); err != nil {
			return nil, err
		}
	}
	response, err := r.sendOnce(ctx, session.AccessToken.Reveal())
	if !unauthenticated(response) {
		return response, err
	}
	renewed, failed := r.where.Session(ctx)
	if failed != nil || renewed.AccessToken.Equal(session.AccessToken) {
		return response, err
	}
	return r.sendOnce(ctx, renewed.AccessToken.Reveal()) // the host did nothing for the first one
}

func (r *Request) platformSession() bool {
	return r.operation.Surface == Platform && !r.operation.Open
}

// unauthenticated reports that the session is not valid any more. The service then does nothing.
func unauthenticated(response *Response) bool {
	return response != nil && response.Status == http.StatusUnauthorized
}

// credential returns what the Authorization header of another surface carries.
func (r *Request) credential() (string, error) {
	switch {
	case r.operation.Open:
		return "", nil
	case r.operation.Surface == App:
		key, err := r.where.APIKey()
		return key.Reveal(), err
	case r.operation.Surface == Reference:
		token, err := r.where.AccessToken()
		return token.Reveal(), err
	}
	return "", nil
}

// sendOnce sends one request.
func (r *Request) sendOnce(ctx context.Context, bearer string) (*Response, error) {
	connected := false
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected = true },
	})
	request, err := http.NewRequestWithContext(traced, r.method, r.url.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	request.Header = r.headers(bearer)
	received, err := transport.NewBare().RoundTrip(request)
	if err != nil {
		return nil, r.deliveryError(err, connected)
	}
	defer func() { _ = received.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(received.Body, maxBody+1))
	response := &Response{Status: received.StatusCode, Header: received.Header, Body: body}
	if err == nil && len(body) > maxBody {
		response.Body = body[:maxBody]
		err = fmt.Errorf("the response is too large: it has more than %d MiB", maxBody>>20)
	}
	if err != nil {
		return response, r.deliveryError(err, true)
	}
	return response, r.responseError(response)
}

func (r *Request) headers(bearer string) http.Header {
	headers := http.Header{"Accept": {"application/json"}, "User-Agent": {UserAgent}}
	if len(r.Body) > 0 {
		headers.Set("Content-Type", "application/json")
	}
	for name, values := range r.Header {
		headers[name] = values
	}
	if bearer != "" {
		headers.Set("Authorization", "Bearer "+bearer)
	}
	if r.Key != "" {
		headers.Set("Idempotency-Key", r.Key)
	}
	if r.client != "" {
		headers.Set("X-Service-Account", r.client)
	}
	return headers
}

// callInfo describes the call in an error.
func (r *Request) callInfo() errors.CallInfo {
	return errorbase.With(errors.CallInfo{
		Operation: r.operation.ID, IdempotencyKey: r.Key, Attempts: 1, Account: r.client,
	}, errorbase.Facts{
		ReadOnly:  !r.writes(),
		Once:      r.mayRepeatEffect(),
		Moneyless: !r.writes() || r.operation.Moneyless,
	})
}

// mayRepeatEffect reports a write that may be done twice if it is sent twice.
func (r *Request) mayRepeatEffect() bool {
	return r.writes() && r.Key == "" && r.operation.Keyed != ByItself
}

// deliveryError returns the error of a call without a whole response.
func (r *Request) deliveryError(err error, connected bool) error {
	if !connected || !r.writes() {
		return &errors.NotDelivered{CallInfo: r.callInfo(), Err: err}
	}
	return &errors.InDoubt{CallInfo: r.callInfo(), Resolve: r.resolve(), Cause: err}
}

func (r *Request) resolve() string {
	switch {
	case r.mayRepeatEffect():
		return "read the resource before you send it again, because it could be done twice"
	case r.Key != "":
		return "send the same request with the same -key"
	}
	return "send the same request"
}

// responseError returns the error of a response that is not a success.
func (r *Request) responseError(response *Response) error {
	if response.Status >= 200 && response.Status < 300 {
		if !saysJSON(response.Header) || len(response.Body) == 0 || jsontext.Value(response.Body).IsValid() {
			return nil
		}
		return r.inDoubtIfWritten(&errors.UnexpectedResponse{CallInfo: r.callInfo(), Status: response.Status,
			Err: errors.New("the body is not valid JSON")})
	}
	err := errors.Decode(errors.Response{CallInfo: r.callInfo(), Status: response.Status, Header: response.Header,
		Body: response.Body})
	return r.inDoubtIfWritten(err)
}

// inDoubtIfWritten returns the error itself, or one that says that the write may have been done.
func (r *Request) inDoubtIfWritten(err error) error {
	failure, ok := errors.AsType[errors.Failure](err)
	if !ok || !r.writes() || failure.MovedByCall() != errors.MaybeMoved {
		return err
	}
	return &errors.InDoubt{CallInfo: r.callInfo(), Resolve: r.resolve(), Cause: err}
}

func saysJSON(header http.Header) bool {
	kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return strings.HasSuffix(strings.TrimSpace(kind), "json")
}
