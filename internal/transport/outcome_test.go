package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Each way in which a call can fail has its error type. The type decides what a program does about money.
func TestOutcomes(t *testing.T) {
	const unavailable = errors.CodeProviderUnavailable
	envelope503 := refuses(503, unavailable)
	busy := refuses(429, errors.CodeRateLimited)
	funded := responds(409,
		`{"error":{"code":"already_funded","message":"m","details":{"payoutId":"po_1","transactionHash":"0x1"}}}`)

	type want struct {
		kind      error // its type
		moved     errors.Movement
		retryable bool
		within    error // the cause of an InDoubt
	}
	var (
		success           want
		undelivered       = want{&errors.NotDelivered{}, errors.NotMoved, true, nil}
		unknown           = want{&errors.InDoubt{}, errors.MaybeMoved, true, nil}
		unexpectedRead    = want{&errors.UnexpectedResponse{}, errors.NotMoved, true, nil}
		unexpectedUnknown = want{&errors.InDoubt{}, errors.MaybeMoved, true, &errors.UnexpectedResponse{}}
		rateLimited       = want{&errors.RateLimited{}, errors.NotMoved, true, nil}
		alreadyFunded     = want{&errors.AlreadyFunded{}, errors.Moved, false, nil}
		forbidden         = want{&errors.Forbidden{}, errors.NotMoved, false, nil}
		providerRead      = want{&errors.ProviderUnavailable{}, errors.NotMoved, true, nil}
		providerWrite     = want{&errors.ProviderUnavailable{}, errors.MaybeMoved, true, nil}
		quoteExpired      = want{&errors.QuoteExpired{}, errors.NotMoved, false, nil}
		notFound          = want{&errors.NotFound{}, errors.NotMoved, false, nil}
		invalid           = want{&errors.ValidationFailed{}, errors.NotMoved, false, nil}
	)
	wrapping := func(cause error) want { return want{&errors.InDoubt{}, errors.MaybeMoved, true, cause} }

	for _, row := range []struct {
		name                               string
		steps                              []step
		read, keyed, natural, delete, once want
	}{
		{"success after lost", []step{lostResponse, ok}, success, success, success, success, unknown},
		{"success after 503", []step{envelope503, ok}, success, success, success, success, providerWrite},
		{"success after 429", []step{busy, ok}, success, success, success, success, success},
		{"no connection", []step{noConnection}, undelivered, undelivered, undelivered, undelivered, undelivered},
		{"lost before the response", []step{lostResponse}, undelivered, unknown, unknown, unknown, unknown},
		{"response broken off", []step{brokenResponse}, want{&errors.UnexpectedResponse{}, errors.NotMoved, false, nil},
			unexpectedUnknown, unexpectedUnknown, unexpectedUnknown, unexpectedUnknown},
		{"HTML 502", []step{page(502)}, unexpectedRead, unexpectedUnknown, unexpectedUnknown, unexpectedUnknown,
			unexpectedUnknown},
		{"HTML 408", []step{page(408)}, unexpectedRead, unexpectedUnknown, unexpectedUnknown, unexpectedUnknown,
			unexpectedUnknown},
		{"HTML 403", []step{page(403)}, want{&errors.UnexpectedResponse{}, errors.NotMoved, false, nil},
			want{&errors.UnexpectedResponse{}, errors.NotMoved, false, nil},
			want{&errors.UnexpectedResponse{}, errors.NotMoved, false, nil},
			want{&errors.UnexpectedResponse{}, errors.NotMoved, false, nil},
			want{&errors.UnexpectedResponse{}, errors.NotMoved, false, nil}},
		{"envelope 503", []step{envelope503}, providerRead, providerWrite, providerWrite, providerWrite, providerWrite},
		{"429", []step{busy}, rateLimited, rateLimited, rateLimited, rateLimited, rateLimited},
		{"503, then 429", []step{envelope503, busy}, rateLimited, wrapping(&errors.RateLimited{}),
			wrapping(&errors.RateLimited{}), wrapping(&errors.RateLimited{}), providerWrite},
		{"408, then 429", []step{refuses(408, "timeout"), busy}, rateLimited, wrapping(&errors.RateLimited{}),
			wrapping(&errors.RateLimited{}), wrapping(&errors.RateLimited{}),
			want{&errors.Unrecognized{}, errors.MaybeMoved, true, nil}},
		{"503, then no connection", []step{envelope503, noConnection}, undelivered, unknown, unknown, unknown,
			providerWrite},
		{"429, then no connection", []step{busy, noConnection}, undelivered, undelivered, undelivered, undelivered,
			undelivered},
		{"no connection, then lost", []step{noConnection, lostResponse},
			undelivered, unknown, unknown, unknown, unknown},
		{"no connection, then 403", []step{noConnection, refuses(403, errors.CodeForbidden)}, forbidden, forbidden,
			forbidden, forbidden, forbidden},
		{"lost, then no connection", []step{lostResponse, noConnection},
			undelivered, unknown, unknown, unknown, unknown},
		{"lost, then already funded", []step{lostResponse, funded}, alreadyFunded, alreadyFunded, alreadyFunded,
			alreadyFunded, unknown},
		{"lost, then 403", []step{lostResponse, refuses(403, errors.CodeForbidden)}, forbidden,
			wrapping(&errors.Forbidden{}), wrapping(&errors.Forbidden{}), wrapping(&errors.Forbidden{}), unknown},
		{"lost, then 401", []step{lostResponse, refuses(401, errors.CodeUnauthenticated)},
			want{&errors.Unauthenticated{}, errors.NotMoved, false, nil},
			wrapping(&errors.Unauthenticated{}), wrapping(&errors.Unauthenticated{}),
			wrapping(&errors.Unauthenticated{}), unknown},
		{"lost, then 422", []step{lostResponse, refuses(422, errors.CodeValidationFailed)}, invalid, invalid,
			wrapping(&errors.ValidationFailed{}), wrapping(&errors.ValidationFailed{}), unknown},
		// Under its key, a write gets its first response again. A confirm or a delete can meet its own effect.
		{"lost, then expired", []step{lostResponse, refuses(409, errors.CodeQuoteExpired)}, quoteExpired, quoteExpired,
			wrapping(&errors.QuoteExpired{}), wrapping(&errors.QuoteExpired{}), unknown},
		{"503, then expired", []step{envelope503, refuses(409, errors.CodeQuoteExpired)}, quoteExpired, quoteExpired,
			wrapping(&errors.QuoteExpired{}), wrapping(&errors.QuoteExpired{}), providerWrite},
		{"429, then expired", []step{busy, refuses(409, errors.CodeQuoteExpired)}, quoteExpired, quoteExpired,
			quoteExpired, quoteExpired, quoteExpired},
		{"lost, then gone", []step{lostResponse, refuses(410, errors.CodeApprovalExpired)},
			want{&errors.ApprovalExpired{}, errors.NotMoved, false, nil},
			want{&errors.ApprovalExpired{}, errors.NotMoved, false, nil}, wrapping(&errors.ApprovalExpired{}),
			wrapping(&errors.ApprovalExpired{}), unknown},
		{"lost, then not found", []step{lostResponse, refuses(404, errors.CodeNotFound)}, notFound, notFound,
			wrapping(&errors.NotFound{}), wrapping(&errors.NotFound{}), unknown},
		{"lost, then unreadable", []step{lostResponse, page(200)},
			want{&errors.UnexpectedResponse{}, errors.NotMoved, false, nil}, unexpectedUnknown, unexpectedUnknown,
			unexpectedUnknown, unknown},
	} {
		for op, want := range map[*transport.Operation]want{
			&readThing: row.read, &bookThing: row.keyed, &confirmThing: row.natural, &deleteThing: row.delete,
			&spendThing: row.once,
		} {
			t.Run(row.name+"/"+op.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					_, err := sendKeyed(t.Context(), newClient(t, host, through(script(row.steps...))), op,
						transport.Call{})
					if want.kind == nil {
						require.NoError(t, err)
						return
					}
					require.Equal(t, typeName(want.kind), typeName(err), "%v", err)
					failure, ok := errors.AsType[errors.Failure](err)
					require.True(t, ok)
					assert.Equal(t, want.moved, failure.MovedByCall())
					// its key anchors nothing
					twice := op.Repeat == transport.RepeatNever && want.moved == errors.MaybeMoved
					assert.Equal(t, want.retryable && !twice, failure.Retryable())
					assert.Equal(t, op.Method != http.MethodGet, keyOf(err) != "", "key of %#v", err)
					if want.within != nil {
						unknown, ok := errors.AsType[*errors.InDoubt](err)
						require.True(t, ok)
						assert.Equal(t, typeName(want.within), typeName(unknown.Cause))
					}
				})
			})
		}
	}
}

// A write that moves money at once may still be under way when its repetition is refused, for whatever reason.
func TestRefusalsAfterALostWriteThatMovesMoneyAtOnce(t *testing.T) {
	for name, refusal := range map[string]step{
		"not found": refuses(404, errors.CodeNotFound),
		"expired":   refuses(409, errors.CodeQuoteExpired), "gone": refuses(410, errors.CodeGone),
		"invalid": refuses(422, errors.CodeValidationFailed), "forbidden": refuses(403, errors.CodeForbidden),
	} {
		for before, known := range map[string]struct {
			first   step
			unknown bool
		}{"lost": {lostResponse, true}, "503": {refuses(503, errors.CodeDatabaseUnavailable), true},
			"429": {refuses(429, errors.CodeRateLimited), false}} {
			t.Run(before+", then "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					client := newClient(t, host, through(script(known.first, refusal)))
					_, err := sendKeyed(t.Context(), client, &sendThing, transport.Call{})
					_, unknown := errors.AsType[*errors.InDoubt](err)
					assert.Equal(t, known.unknown, unknown, "%v", err)
				})
			})
		}
	}
}

// Of an operation that moves no money, only the operation itself can be in doubt.
func TestOutcomesWithoutMoney(t *testing.T) {
	unavailable := refuses(503, errors.CodeDatabaseUnavailable)
	for name, tc := range map[string]struct {
		steps []step
		kind  error
	}{
		"lost":              {[]step{lostResponse}, &errors.InDoubt{}},
		"unreadable":        {[]step{page(200)}, &errors.InDoubt{}},
		"page of a gateway": {[]step{page(502)}, &errors.InDoubt{}},
		"unavailable":       {[]step{unavailable}, &errors.DatabaseUnavailable{}},
		"unavailable, then turned": {[]step{unavailable, refuses(429, errors.CodeRateLimited)},
			&errors.InDoubt{}},
		"lost, then in another way": {[]step{lostResponse, refuses(410, errors.CodeGone)}, &errors.InDoubt{}},
		"unavailable, then no line": {[]step{unavailable, noConnection}, &errors.InDoubt{}},
		"lost, then the session too": {[]step{lostResponse, refuses(401, errors.CodeUnauthenticated)},
			&errors.InDoubt{}},
	} {
		for _, repeat := range []transport.Repeat{transport.RepeatNatural, transport.RepeatNever} {
			t.Run(name+"/"+string(repeat), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					op := transport.Operation{ID: "NameThing", Method: http.MethodPost, Path: "/things", Repeat: repeat,
						Money: transport.MoneyNone, Response: &thingResponse}
					_, err := send(t.Context(), newClient(t, host, through(script(tc.steps...))), &op, transport.Call{})
					failure, ok := errors.AsType[errors.Failure](err)
					require.True(t, ok, "%v", err)
					assert.Equal(t, errors.NotMoved, failure.MovedByCall())
					assert.Equal(t, repeat == transport.RepeatNatural, failure.Retryable())
					if repeat == transport.RepeatNatural || len(tc.steps) == 1 {
						assert.Equal(t, typeName(tc.kind), typeName(err))
					}
				})
			})
		}
	}
}

// A refusal shows what a lost attempt did, unless that attempt can have caused it: a deleted resource is not found, and
// a decided one cannot be decided again.
func TestRefusalsThatALostAttemptMayHaveCaused(t *testing.T) {
	for _, tc := range []struct {
		method  string
		status  int
		settled bool
	}{
		{http.MethodPost, 404, true}, {http.MethodPost, 409, false}, {http.MethodPost, 410, false},
		{http.MethodPost, 422, true},
		{http.MethodDelete, 404, false}, {http.MethodDelete, 409, false}, {http.MethodDelete, 410, false},
		{http.MethodDelete, 422, true},
	} {
		t.Run(fmt.Sprint(tc.method, " ", tc.status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				op := transport.Operation{ID: "NameThing", Method: tc.method, Path: "/things/{thingId}",
					Repeat: transport.RepeatNatural, Money: transport.MoneyNone, Response: &thingResponse}
				code := map[int]errors.Code{404: errors.CodeNotFound, 409: errors.CodeQuoteExpired,
					410: errors.CodeApprovalExpired, 422: errors.CodeValidationFailed}
				svc := script(lostResponse, refuses(tc.status, code[tc.status]))
				_, err := send(t.Context(), newClient(t, host, through(svc)), &op, transport.Call{})
				require.Error(t, err)
				_, unknown := errors.AsType[*errors.InDoubt](err)
				assert.Equal(t, tc.settled, !unknown, "%v", err)
			})
		})
	}
}

// The Retry-After of the last attempt also counts if an earlier attempt is in doubt.
func TestInDoubtSaysWhenToRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := script(refuses(503, errors.CodeProviderUnavailable),
			refuses(429, errors.CodeRateLimited, "Retry-After", "100"))
		_, err := send(t.Context(), newClient(t, host, through(svc)), &bookThing, transport.Call{})
		var unknown *errors.InDoubt
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, svc.attempts()[1].at.Add(100*time.Second), unknown.RetryAt)
	})
}

// lostLogin is a credential that cannot be obtained: the response to its login was lost.
type lostLogin struct{ cause error }

func (l lostLogin) Authorize(context.Context, http.Header) error {
	return &errors.InDoubt{CallInfo: errors.CallInfo{Operation: "LogIn"}, Cause: l.cause}
}

// A login moves no money, and the write that needed it was not sent.
func TestLostLoginIsNotDelivered(t *testing.T) {
	cause := errors.New("broken off")
	svc := script(ok)
	_, err := send(t.Context(), newClient(t, host, through(svc), authorizedBy(lostLogin{cause})), &bookThing,
		transport.Call{})
	var undelivered *errors.NotDelivered
	require.ErrorAs(t, err, &undelivered)
	assert.Equal(t, "BookThing", undelivered.Operation)
	_, unknown := errors.AsType[*errors.InDoubt](err)
	assert.False(t, unknown, "%v", err)
	require.ErrorIs(t, err, cause)
	assert.Empty(t, svc.attempts())
}

// fullLimiter is a limiter that has no room after a while.
type fullLimiter struct{ err error }

func (c fullLimiter) Wait(context.Context, moneymovement.RateCall) error {
	<-time.After(2 * time.Second)
	return c.err
}

// A call that the limiter refuses is not sent, however long the refusal took.
func TestALimiterThatRefusesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("no room")
		svc := script(ok)
		_, err := send(t.Context(),
			newClient(t, host, through(svc), limitedBy(fullLimiter{full}), authorizedBy(new(tokens))), &bookThing,
			transport.Call{})
		require.ErrorIs(t, err, full)
		assert.Empty(t, svc.attempts())
	})
}

// leaving is a credential that is obtained although its caller has left.
type leaving struct{ leave func() }

func (l leaving) Authorize(context.Context, http.Header) error { l.leave(); return nil }

// If a context ends while the credential is obtained, the call ends before anything is sent.
func TestNothingIsSentAfterTheContextEnded(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	svc := script(ok)
	_, err := send(ctx, newClient(t, host, through(svc), authorizedBy(leaving{leave})), &bookThing, transport.Call{})
	var undelivered *errors.NotDelivered
	require.ErrorAs(t, err, &undelivered)
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, svc.attempts())
}

// typeName returns the name of the outermost type. A wrapped type does not count.
func typeName(err error) string { return fmt.Sprintf("%T", err) }

// keyOf returns the idempotency key in an error.
func keyOf(err error) string {
	head, _ := errors.CallInfoOf(err)
	return head.IdempotencyKey
}

// The response to an earlier attempt does not replace a missing response.
func TestInDoubtHasNoForeignRequestID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := script(refuses(401, errors.CodeTokenExpired, "X-Request-ID", "req_401"), lostResponse)
		var kept moneymovement.Response
		_, err := send(t.Context(), newClient(t, host, through(svc), authorizedBy(new(tokens))), &bookThing,
			transport.Kept(&kept))
		var unknown *errors.InDoubt
		require.ErrorAs(t, err, &unknown)
		assert.Empty(t, unknown.RequestID)
		assert.Zero(t, kept.Status)
		assert.Equal(t, 5, unknown.Attempts)
	})
}

// The error of a response that cannot be read has what support needs to find it.
func TestAnUnexpectedResponseSaysWhatItWas(t *testing.T) {
	svc := script(responds(http.StatusOK, "<html>", "Content-Type", "text/html", "X-Request-ID", "req_7"))
	_, err := send(t.Context(), newClient(t, host, through(svc)), &readThing, transport.Call{})
	var unexpected *errors.UnexpectedResponse
	require.ErrorAs(t, err, &unexpected)
	assert.Equal(t, "req_7", unexpected.RequestID)
	assert.Equal(t, "text/html", unexpected.ContentType)
	assert.Equal(t, http.StatusOK, unexpected.Status)
}

// The last status that is a success, and the first that is not.
func TestWhichStatusesAreSuccesses(t *testing.T) {
	for status, success := range map[int]bool{199: false, 200: true, 299: true, 300: false} {
		_, err := send(t.Context(), newClient(t, host, through(script(responds(status, oneThing)))), &spendThing,
			transport.Call{})
		assert.Equal(t, success, err == nil, "%d: %v", status, err)
	}
}

// The error shows that the context ended, whatever its cause was, and whether or not the request was sent.
func TestContextErrorsStayVisible(t *testing.T) {
	cause := errors.New("the user left")
	endings := map[string]func(context.Context) (context.Context, func()){
		"cancelled": func(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) },
		"cancelled with a cause": func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			return ctx, func() { cancel(cause) }
		},
	}
	for name, ending := range endings {
		for _, op := range []*transport.Operation{&readThing, &bookThing, &spendThing} {
			t.Run("before/"+name+"/"+op.ID, func(t *testing.T) {
				for _, limiter := range []moneymovement.RateLimiter{nil,
					ratewindow.New(moneymovement.StatedWindows(), nil)} {
					ctx, end := ending(t.Context())
					end()
					svc := script(ok)
					_, err := send(ctx, newClient(t, host, through(svc), limitedBy(limiter)), op, transport.Call{})
					var undelivered *errors.NotDelivered
					require.ErrorAs(t, err, &undelivered)
					require.ErrorIs(t, err, context.Canceled)
					assert.Equal(t, 1, strings.Count(err.Error(), context.Canceled.Error()), "said once: %v", err)
					assert.Zero(t, undelivered.Attempts)
					assert.Empty(t, svc.attempts(), "nothing was sent")
				}
			})
			for moment, during := range map[string]func(end func()) step{
				"waiting for the response": func(end func()) step {
					return func(req *http.Request) (*http.Response, error) {
						end()
						<-req.Context().Done()
						return nil, context.Cause(req.Context())
					}
				},
				"in the middle of the response": func(end func()) step {
					return func(req *http.Request) (*http.Response, error) {
						resp, err := responds(200, oneThing)(req)
						resp.Body = endedBody{req.Context(), end}
						return resp, err
					}
				},
			} {
				t.Run(moment+"/"+name+"/"+op.ID, func(t *testing.T) {
					ctx, end := ending(t.Context())
					defer end()
					svc := script(during(end), ok)
					_, err := sendKeyed(ctx, newClient(t, host, through(svc)), op, transport.Call{})

					require.ErrorIs(t, err, context.Canceled)
					assert.Len(t, svc.attempts(), 1)
					if name == "cancelled with a cause" {
						require.ErrorIs(t, err, cause)
					}
					if op.Method == http.MethodGet {
						assert.Equal(t, "*errors.NotDelivered", typeName(err))
					} else {
						assert.Equal(t, "*errors.InDoubt", typeName(err))
						assert.NotEmpty(t, keyOf(err))
					}
				})
			}
			t.Run("between attempts/"+name+"/"+op.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, end := ending(t.Context())
					svc := script(func(req *http.Request) (*http.Response, error) {
						time.AfterFunc(time.Second, end)
						return refuses(429, errors.CodeRateLimited, "Retry-After", "60")(req)
					})
					_, err := send(ctx, newClient(t, host, through(svc)), op, transport.Call{})
					require.ErrorIs(t, err, context.Canceled)
					assert.Len(t, svc.attempts(), 1)
					assert.Equal(t, "*errors.NotDelivered", typeName(err), "a refused attempt was not carried out")
				})
			})
		}
	}
}

// endedBody is a body that is incomplete because its context ended.
type endedBody struct {
	ctx context.Context
	end func()
}

func (b endedBody) Read([]byte) (int, error) {
	b.end()
	return 0, fmt.Errorf("reading: %w", context.Cause(b.ctx))
}
func (endedBody) Close() error { return nil }

// listen starts a server that passes each of its connections to serve, and then closes it.
func listen(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// raw starts a server that sends the bytes after the first request of each connection.
func raw(t *testing.T, response string) (address string) {
	t.Helper()
	return listen(t, func(conn net.Conn) {
		if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			_, _ = io.Copy(io.Discard, req.Body)
			_, _ = io.WriteString(conn, response)
		}
	})
}

// served starts a server with this TLS configuration, and returns the configuration of a client that trusts it.
func served(t *testing.T, config *tls.Config, serve func(*tls.Conn)) (baseURL string, trusting *tls.Config) {
	t.Helper()
	lender := httptest.NewTLSServer(http.NotFoundHandler()) // of a certificate
	defer lender.Close()
	config.Certificates = lender.TLS.Certificates
	roots := x509.NewCertPool()
	roots.AddCert(lender.Certificate())
	return "https://" + listen(t, func(conn net.Conn) { serve(tls.Server(conn, config)) }),
		&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// requireNoSecret looks for the secret in everything that an error prints, and in each of its causes. It returns all
// these texts.
func requireNoSecret(t *testing.T, err error) (said string) {
	t.Helper()
	require.Error(t, err)
	said = err.Error()
	for _, format := range []string{"%v", "%+v", "%#v", "%q"} {
		require.NotContains(t, strings.ToLower(fmt.Sprintf(format, err)), "s3cret", format)
	}
	switch wrapped := err.(type) { //nolint:errorlint // every link of the chain is looked at
	case *errors.InDoubt:
		said += "\n" + requireNoSecret(t, wrapped.Cause)
	case interface{ Unwrap() error }:
		if cause := wrapped.Unwrap(); cause != nil {
			said += "\n" + requireNoSecret(t, cause)
		}
	case interface{ Unwrap() []error }:
		for _, cause := range wrapped.Unwrap() {
			said += "\n" + requireNoSecret(t, cause)
		}
	}
	_, shown := errors.AsType[textproto.ProtocolError](err)
	require.False(t, shown, "the quoting error itself")
	return said
}

// requireQuiet makes a read and a write that both fail, and looks for the secret in their errors and logs.
func requireQuiet(t *testing.T, baseURL, says string, set ...func(*transport.Config)) {
	t.Helper()
	var logs bytes.Buffer
	set = append(set, retries(moneymovement.RetryPolicy{Max: -1}), func(c *transport.Config) {
		c.Logger = slog.New(slog.NewJSONHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	client := newClient(t, baseURL, set...)
	for _, op := range []*transport.Operation{&readThing, &spendThing} {
		_, err := send(t.Context(), client, op, transport.Call{})
		assert.Contains(t, requireNoSecret(t, err), says, op.ID)
	}
	require.NotEmpty(t, logs)
	require.NotContains(t, logs.String(), "s3cret")
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

// The transport quotes the parts of a response that it cannot read. The SDK's errors and logs say what is wrong, and do
// not quote.
func TestMalformedResponsesAreNotQuoted(t *testing.T) {
	for name, tc := range map[string]struct{ response, says string }{
		"first line":            {"session=s3cret\r\n\r\n", "malformed HTTP response"},
		"status code":           {"HTTP/1.1 s3cret OK\r\n\r\n", "malformed HTTP status code"},
		"long status code":      {"HTTP/1.1 200s3cret OK\r\n\r\n", "malformed HTTP status code"},
		"version":               {"HTTP/s3cret 200 OK\r\n\r\n", "malformed HTTP version"},
		"line without a colon":  {head + "Set-Cookie session=s3cret\r\n\r\n", "malformed MIME header"},
		"name with a null byte": {head + "Set\x00Cookie: session=s3cret\r\n\r\n", "malformed MIME header"},
		"no name":               {head + ": session=s3cret\r\n\r\n", "malformed MIME header"},
		"control character":     {head + "Set-Cookie: session=\x01s3cret\"s3cret\r\n\r\n", "malformed MIME header"},
		"continued at once": {"HTTP/1.1 200 OK\r\n Set-Cookie: session=s3cret\r\n\r\n",
			"malformed MIME header initial line"},
		"length": {head + "Content-Length: s3cret\r\n\r\n", "bad Content-Length"},
		"two lengths": {head + "Content-Length: 5\r\nContent-Length: s3cret\r\n\r\n",
			"multiple Content-Length headers"},
		"transfer encoding": {head + "Transfer-Encoding: s3cret\r\n\r\n", "unsupported transfer encoding"},
		"a response before": {"HTTP/1.1 103 Early Hints\r\nSet-Cookie session=s3cret\r\n\r\n" + head + "\r\n",
			"malformed MIME header"},
		"trailer": {head + "Transfer-Encoding: chunked\r\n\r\n0\r\nSet-Cookie session=s3cret\r\n\r\n",
			"malformed MIME header"},
		"trailer of a refusal": {"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n" +
			"\r\n0\r\nSet\x00Cookie: session=s3cret\r\n\r\n", "malformed MIME header"},
		"chunk": {head + "Transfer-Encoding: chunked\r\n\r\ns3cret\r\n\r\n", "chunk length"},
		"compression": {head +
			"Connection: close\r\nContent-Encoding: gzip\r\nContent-Length: 16\r\n\r\ns3crets3crets3cr", "gzip"},
		"address of a redirect": {"HTTP/1.1 307 Elsewhere\r\nConnection: close\r\nLocation: " +
			"http://s3cret:s3cret\r\nContent-Length: 0\r\n\r\n", "307"},
	} {
		t.Run(name, func(t *testing.T) { requireQuiet(t, "http://"+raw(t, tc.response), tc.says) })
	}
}

// A stream's trailer arrives after its reader has the bytes.
func TestMalformedTrailersOfAStreamAreNotQuoted(t *testing.T) {
	response := "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nTransfer-Encoding: chunked\r\n" +
		"\r\n0\r\nSet-Cookie session=s3cret\r\n\r\n"
	stream, err := transport.Open(t.Context(), newClient(t, "http://"+raw(t, response)),
		request(&readThing, transport.Call{}), "application/pdf")
	require.NoError(t, err)
	defer stream.Close()
	_, err = io.ReadAll(stream)
	assert.Contains(t, requireNoSecret(t, err), "malformed MIME header")
}

func TestMalformedHTTP2ResponsesAreNotQuoted(t *testing.T) {
	frame := func(kind, flags byte, stream uint32, payload string) string {
		h := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
		return string(binary.BigEndian.AppendUint32(append(h, flags), stream)) + payload
	}
	literal := func(name, value string) string {
		return "\x00" + string(rune(len(name))) + name + string(rune(len(value))) + value
	}
	const settings, headers, goAway, endOfHeaders, status200 = 4, 1, 7, 4, "\x88"
	for name, tc := range map[string]struct{ frames, says string }{
		"farewell": {frame(goAway, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x02session=s3cret"), "GOAWAY"},
		"header name": {frame(headers, endOfHeaders, 1, status200+literal("S3cret", "1")),
			"invalid header field name"},
		"header value": {frame(headers, endOfHeaders, 1, status200+literal("set-cookie", "s3cret\x00")),
			"invalid header field value"},
		"pseudo name": {frame(headers, endOfHeaders, 1, status200+literal(":s3cret", "1")), "invalid pseudo-header"},
	} {
		t.Run(name, func(t *testing.T) {
			address, trusting := served(t, &tls.Config{NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12},
				func(conn *tls.Conn) {
					_, _ = io.WriteString(conn, frame(settings, 0, 0, ""))
					request := bufio.NewReader(conn)
					_, _ = request.Discard(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
					for kind := byte(0); kind != headers; { // until the request's own
						h := make([]byte, 9)
						if _, err := io.ReadFull(request, h); err != nil {
							return
						}
						kind = h[3]
						_, _ = request.Discard(int(binary.BigEndian.Uint32(append([]byte{0}, h[:3]...))))
					}
					_, _ = io.WriteString(conn, tc.frames)
					if tc.says == "GOAWAY" {
						_ = conn.CloseWrite() // which it is quoted at
					}
					_, _ = io.Copy(io.Discard, request)
				})
			next := &http.Transport{TLSClientConfig: trusting, ForceAttemptHTTP2: true, DisableKeepAlives: true}
			requireQuiet(t, address, tc.says, through(next))
		})
	}
}

// A proxy's words in a refusal, and the credential in its address, are secret too.
func TestErrorsOfAProxyAreNotQuoted(t *testing.T) {
	proxied := func(proxy func(*http.Request) (*url.URL, error)) func(*transport.Config) {
		return inPlaceOfDefault(t, &http.Transport{Proxy: proxy})
	}
	t.Run("refusal", func(t *testing.T) {
		proxy := raw(t, "HTTP/1.1 407 session=s3cret\r\nSet-Cookie: s3cret\r\nContent-Length: 0\r\n\r\n")
		requireQuiet(t, host, "proxy refused the connection with status 407",
			proxied(http.ProxyURL(&url.URL{Scheme: "http", Host: proxy})))
	})
	t.Run("malformed", func(t *testing.T) {
		proxy := raw(t, "HTTP/1.1 407 No\r\nSet-Cookie s3cret\r\n\r\n")
		requireQuiet(t, host, "malformed MIME header",
			proxied(http.ProxyURL(&url.URL{Scheme: "http", Host: proxy, User: url.UserPassword("bob", "s3cret")})))
	})
	t.Run("unreachable", func(t *testing.T) {
		proxy := &url.URL{Scheme: "http", Host: "127.0.0.1:0", User: url.UserPassword("bob", "s3cret")}
		requireQuiet(t, host, "proxyconnect", proxied(http.ProxyURL(proxy)))
	})
	t.Run("address", func(t *testing.T) {
		requireQuiet(t, host, "invalid proxy address", proxied(func(*http.Request) (*url.URL, error) {
			// as net/http says it
			return nil, fmt.Errorf("invalid proxy address %q: invalid port", "http://bob:s3cret@proxy.example:port")
		}))
	})
}

// The caller can still find the error of its own transport, without its quotes.
func TestUnquotedErrorsKeepTheirCauses(t *testing.T) {
	own := errors.New(`own "s3cret"`)
	timeout := &net.OpError{Op: "read", Net: "tcp", Err: io.ErrUnexpectedEOF}
	quoting := &net.OpError{Op: "write", Net: "tcp", Err: textproto.ProtocolError(`malformed "s3cret`)}
	for _, tc := range []struct {
		err   error
		shown bool // as *net.OpError
	}{
		{fmt.Errorf("quoting %q: %w; %w", "s3cret", own, timeout), true},
		{fmt.Errorf("malformed MIME header line: Set-Cookie: s3cret: %w; %w", own, timeout), true},
		{errors.Join(own, quoting), false},
	} {
		_, err := send(t.Context(),
			newClient(t, host, through(script(fails(tc.err))), retries(moneymovement.RetryPolicy{Max: -1})), &readThing,
			transport.Call{})
		requireNoSecret(t, err)
		require.ErrorContains(t, err, `"..."`)
		require.ErrorIs(t, err, own)
		assert.Equal(t, tc.shown, errors.Is(err, io.ErrUnexpectedEOF))
		found, shown := errors.AsType[*net.OpError](err)
		require.Equal(t, tc.shown, shown)
		if shown {
			assert.Same(t, timeout, found)
		}
	}
}
