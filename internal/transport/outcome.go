package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// outcome returns the error of a call without a response. err is the error of the last attempt, or of what came before
// the next one.
func (r *Request) outcome(ctx context.Context, err error) error {
	err = withContextError(ctx, err)
	if _, answered := errors.CallInfoOf(err); answered && !r.inDoubt() && withoutEffect(err) {
		return err // a login inside the call was refused, and nothing was sent
	}
	if r.inDoubt() {
		return r.inDoubtError(err)
	}
	if login, lost := errors.AsType[*errors.InDoubt](err); lost {
		err = login.Cause // a lost login moved nothing, and this call was not sent
	}
	head := r.head()
	head.RetryAt = r.retryAt(err)
	return &errors.NotDelivered{CallInfo: head, Err: r.withDeadline(err)}
}

// judgeRefusal returns the error of a refused call, which depends on the earlier attempts too. If one of them may have
// been carried out, only a refusal of the request itself is final. A refusal such as 401, 429 or 503 says nothing about
// the earlier attempt.
func (r *Request) judgeRefusal(refusal error) error {
	switch {
	case !r.op.write():
		return refusal
	case r.notFromService(refusal):
		return r.inDoubtError(refusal)
	case r.inDoubt() && r.causedByEarlierAttempt(refusal):
		return r.inDoubtError(refusal)
	case definitive(r.response.status):
		return refusal
	case r.lost, r.serverFailed && withoutEffect(refusal):
		return r.inDoubtError(refusal)
	}
	return refusal
}

// definitive reports a status that is about the request itself, and that each earlier attempt would have got too.
func definitive(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict,
		http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// causedByEarlierAttempt reports a refusal that an earlier attempt may have caused, if that attempt was carried out.
// With an idempotency key, the service repeats its first response. Without a key, a deleted resource is not found, and
// a confirmed one has another status or is past its window. Money that has moved can be the reason for any refusal. It
// can also still be on its way: if the request itself moves money, not even its key makes a refusal certain.
func (r *Request) causedByEarlierAttempt(refusal error) bool {
	switch {
	case !withoutEffect(refusal), r.op.Repeat == RepeatKey && r.op.Money != MoneyAtOnce:
		return false
	case r.op.Money != MoneyNone:
		return true
	}
	switch r.response.status {
	case http.StatusNotFound:
		return r.op.Method == http.MethodDelete
	case http.StatusConflict, http.StatusGone:
		return true
	}
	return false
}

// withoutEffect reports that the service did not carry out the request, also if the request moves no money.
func withoutEffect(err error) bool {
	return err != nil && errorbase.WithoutEffect(err)
}

// notFromService reports a response that is neither the service's JSON error nor a client error: a proxy's page, a
// redirect, an empty body.
func (r *Request) notFromService(refusal error) bool {
	unexpected, ok := errors.AsType[*errors.UnexpectedResponse](refusal)
	return ok && !withoutEffect(unexpected)
}

// unreadableSuccess returns the error of a success that cannot be decoded: a write was carried out.
func (r *Request) unreadableSuccess(cause error) error {
	unexpected := r.response.unexpected(r, cause)
	if r.op.write() {
		return r.inDoubtError(unexpected)
	}
	return unexpected
}

func (a *response) unexpected(r *Request, cause error) error {
	return &errors.UnexpectedResponse{CallInfo: r.head(), Status: a.status, ContentType: a.header.Get("Content-Type"),
		Err: cause}
}

// inDoubt reports that a write may have been carried out.
func (r *Request) inDoubt() bool { return r.op.write() && (r.lost || r.serverFailed) }

func (r *Request) inDoubtError(cause error) error {
	head := r.head()
	head.RetryAt = r.retryAt(cause)
	return &errors.InDoubt{CallInfo: head, Resolve: r.resolve(), Cause: r.withDeadline(cause)}
}

// withDeadline adds to an error that the context's deadline left no time for another attempt.
func (r *Request) withDeadline(err error) error {
	if !r.noTime || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w; %w", err, noTimeLeft{})
}

// withoutURL removes the URL that net/http adds to its errors. A query can hold values that a log must not show.
func withoutURL(err error) error {
	for {
		wrapped, ok := errors.AsType[*url.Error](err)
		if !ok || wrapped.Err == nil {
			return err
		}
		err = wrapped.Err // a client inside the transport can add another one
	}
}

// retryAt returns the time before which another attempt is useless, as the error of the last attempt says. If the call
// ended in a pause that the service asked for, it is the end of the pause.
func (r *Request) retryAt(err error) time.Time {
	if at := retryAt(err); !at.IsZero() || !r.pausedUntil.After(time.Now()) {
		return at
	}
	return r.pausedUntil
}

// retryAt returns the time before which another attempt is useless. It is zero if err does not say.
func retryAt(err error) time.Time {
	if wait, ok := errors.AsType[*moneymovement.WindowFull](err); ok {
		return wait.Until
	}
	head, _ := errors.CallInfoOf(err)
	return head.RetryAt
}

// withContextError removes the URL from err, and adds the context's error if another error hides it. If the server does
// not use TLS, it returns the same error as http.Client does.
func withContextError(ctx context.Context, err error) error {
	err = withoutURL(err)
	if record, ok := err.(tls.RecordHeaderError); ok && string(record.RecordHeader[:]) == "HTTP/" { //nolint:errorlint // as http.Client looks at it
		err = http.ErrSchemeMismatch
	}
	cause := ctx.Err()
	if cause == nil {
		return err
	}
	if unexpected, ok := errors.AsType[*errors.UnexpectedResponse](err); ok {
		err = unexpected.Err // the caller stopped reading the response
	}
	if errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// requestIDHeader is X-Request-ID as net/http spells it. Looking for another spelling makes a copy.
const requestIDHeader = "X-Request-Id"

// head returns what errors say about the call.
func (r *Request) head() errors.CallInfo { return errorbase.With(r.info(), r.facts()) }

// info is head without the facts.
func (r *Request) info() errors.CallInfo {
	info := errors.CallInfo{
		Operation: r.op.ID, IdempotencyKey: string(r.call.Key), Resource: r.resource(), Account: r.account,
		Attempts: r.attempts,
	}
	if r.response.header != nil {
		info.RequestID = r.response.header.Get(requestIDHeader)
	}
	return info
}

// facts returns what the errors need to know about a call. Whether the call may be repeated depends on its key. Without
// a key, it depends on the call's age.
func (r *Request) facts() errorbase.Facts {
	facts := r.op.facts()
	facts.Once = !r.repeatable()
	if r.response.status == http.StatusUnauthorized {
		facts.Misplaced = r.misplaced()
	}
	return facts
}

// forms are the beginnings of credentials as the sandbox host makes them, and the packages that take them.
var forms = []struct{ prefix, name, surface string }{
	{"ak_", "an app key, which package appapi takes", ""},
	{"uat_", "an access token of the reference endpoints, which package refapi takes", "/api/v1/"},
	{"at_", "an access token of the platform API, which package dapi gets with a developer key", "/dapi/v1/"},
}

// misplaced says what a refused credential looks like, if it looks like that of another surface.
func (r *Request) misplaced() string {
	credential := strings.TrimPrefix(r.header.Get("Authorization"), "Bearer ")
	if credential == "" {
		credential = r.header.Get("X-Api-Key")
	}
	surface := ""
	for _, form := range forms {
		if form.surface != "" && strings.Contains(r.target.Path, form.surface) {
			surface = form.surface
		}
	}
	for _, form := range forms {
		if form.surface != surface && strings.HasPrefix(credential, form.prefix) {
			return form.name
		}
	}
	return ""
}

func (o *Operation) facts() errorbase.Facts {
	return errorbase.Facts{ReadOnly: !o.write(), Once: o.write() && o.Repeat == RepeatNever,
		Moneyless: o.Money == MoneyNone}
}

// Head returns the head of an error that a surface creates itself.
func (o *Operation) Head(key string) errors.CallInfo {
	return errorbase.With(errors.CallInfo{Operation: o.ID, IdempotencyKey: key}, o.facts())
}

// resource returns the id in the path, or the contact in the body. It is called only for an error.
func (r *Request) resource() string {
	if r.pathID != "" || !r.hasBody {
		return r.pathID
	}
	return textMember(r.body, "contactId")
}
