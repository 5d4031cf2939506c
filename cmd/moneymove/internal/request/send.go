package request

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/target"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

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
		return r.once(ctx, token)
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
	response, err := r.once(ctx, session.AccessToken.Reveal())
	if !unauthenticated(response) {
		return response, err
	}
	renewed, failed := r.where.Session(ctx)
	if failed != nil || renewed.AccessToken.Equal(session.AccessToken) {
		return response, err
	}
	return r.once(ctx, renewed.AccessToken.Reveal()) // the host did nothing for the first one
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

// once sends one request.
func (r *Request) once(ctx context.Context, bearer string) (*Response, error) {
	connected := false
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected = true },
	})
	request, err := http.NewRequestWithContext(traced, r.method, r.url.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	request.Header = r.headers(bearer)
	answer, err := transport.NewBare().RoundTrip(request)
	if err != nil {
		return nil, r.lost(err, connected)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody+1))
	response := &Response{Status: answer.StatusCode, Header: answer.Header, Body: body}
	if err == nil && len(body) > maxBody {
		response.Body = body[:maxBody]
		err = fmt.Errorf("the response is too large: it has more than %d MiB", maxBody>>20)
	}
	if err != nil {
		return response, r.lost(err, true)
	}
	return response, r.judge(response)
}

func (r *Request) headers(bearer string) http.Header {
	headers := http.Header{"Accept": {"application/json"}, "User-Agent": {target.UserAgent}}
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

// head describes the call in an error.
func (r *Request) head() errors.CallInfo {
	return errorbase.With(errors.CallInfo{
		Operation: r.operation.ID, IdempotencyKey: r.Key, Attempts: 1, Account: r.client,
	}, errorbase.Facts{
		ReadOnly:  !r.writes(),
		Once:      r.risky(),
		Moneyless: !r.writes() || r.operation.Moneyless,
	})
}

// risky reports a write that may be done twice if it is sent twice.
func (r *Request) risky() bool {
	return r.writes() && r.Key == "" && r.operation.Keyed != ByItself
}

// lost returns the error of a call without a whole response.
func (r *Request) lost(err error, connected bool) error {
	if !connected || !r.writes() {
		return &errors.NotDelivered{CallInfo: r.head(), Err: err}
	}
	return &errors.InDoubt{CallInfo: r.head(), Resolve: r.resolve(), Cause: err}
}

func (r *Request) resolve() string {
	switch {
	case r.risky():
		return "read the resource before you send it again, because it could be done twice"
	case r.Key != "":
		return "send the same request with the same -key"
	}
	return "send the same request"
}

// judge returns the error of a response that is not a success.
func (r *Request) judge(response *Response) error {
	if response.Status >= 200 && response.Status < 300 {
		if !saysJSON(response.Header) || len(response.Body) == 0 || jsontext.Value(response.Body).IsValid() {
			return nil
		}
		return r.unknownIfWritten(&errors.UnexpectedResponse{CallInfo: r.head(), Status: response.Status,
			Err: errors.New("the body is not valid JSON")})
	}
	err := errors.Decode(errors.Response{CallInfo: r.head(), Status: response.Status, Header: response.Header,
		Body: response.Body})
	return r.unknownIfWritten(err)
}

// unknownIfWritten returns the error itself, or one that says that the write may have been done.
func (r *Request) unknownIfWritten(err error) error {
	failure, ok := errors.AsType[errors.Failure](err)
	if !ok || !r.writes() || failure.MovedByCall() != errors.MaybeMoved {
		return err
	}
	return &errors.InDoubt{CallInfo: r.head(), Resolve: r.resolve(), Cause: err}
}

func saysJSON(header http.Header) bool {
	kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return strings.HasSuffix(strings.TrimSpace(kind), "json")
}
