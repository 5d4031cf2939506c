// Package request sends one request to any operation of the service, with the credential of the path. It never sends a
// request twice, except after a 401 that says that the session has expired. It knows the operations of all four
// surfaces from the descriptions in openapi.
package request

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/target"
)

// Request is a request that is not sent yet. [Plan] makes one.
type Request struct {
	Key    string // the idempotency key, or empty
	Header http.Header
	Body   []byte

	where     *target.Target
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

// Plan reads the method and the path of a request, and chooses the client to act for. asGiven says that the command
// line names a client; one that only the environment names is not sent to an operation that takes none.
func Plan(where *target.Target, method, path string, asGiven bool) (*Request, error) {
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
	return r, r.chooseClient(asGiven)
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
	all, err := All()
	if err != nil {
		return err
	}
	r.operation, r.described = Find(all, r.method, path)
	if !r.described {
		r.operation = Operation{
			ID: r.method + " " + path, Method: r.method, Surface: SurfaceOf(path),
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

func (r *Request) chooseClient(asGiven bool) error {
	if r.operation.Surface != Platform || !r.operation.TakesClient {
		if asGiven {
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
