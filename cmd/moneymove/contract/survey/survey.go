// Package survey calls every operation that reads, and writes nothing. It takes the operations and their parameters
// from the description, and the ids from the responses that it gets. It also sends reads that a host must refuse:
// without a credential, with an unknown id, with a value that the description does not allow.
//
// The contract suite has it as one of its flows. `moneymove check` is [Check], which runs it alone and returns the
// report of the suite.
package survey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/openapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

// mostValues limits how many things of a kind are read one by one.
const mostValues = 5

// longestWait limits how long a request waits for a full rate window, once.
const longestWait = 90 * time.Second

// Survey reads one host. The caller must pass an observer of the log.
type Survey struct {
	Description *wire.Description
	Log         *report.Log
	Caller      *target.Caller
	Session     target.Session // the zero Session leaves the platform API out
	APIKey      moneymovement.Secret
	AccessToken moneymovement.Secret
	// IDs are ids that no list shows, by the name of their placeholder, such as payoutId. For each clientId the reads
	// of the platform API are repeated on behalf of that client.
	IDs map[string][]string
	// Noted is called for each case as it ends. It may be nil.
	Noted func(report.Case)

	cases  []report.Case
	called map[string]bool
}

// Run reads everything, and returns how each read ended. An error means that no response arrived.
func (s *Survey) Run(ctx context.Context) ([]report.Case, error) {
	s.cases, s.called = nil, map[string]bool{}
	for _, part := range []func(context.Context) error{s.reads, s.selections, s.refusals, s.unmetDemands} {
		if err := part(ctx); err != nil {
			return s.cases, err
		}
	}
	return s.cases, nil
}

// gets returns the operations that read, in the order of the description.
func (s *Survey) gets() []*wire.Operation {
	return slices.DeleteFunc(slices.Clone(s.Description.Operations), func(o *wire.Operation) bool {
		return o.Method != http.MethodGet
	})
}

// credential returns the bearer token of an operation's surface, or the variable that is not set.
func (s *Survey) credential(o *wire.Operation) (token, missing string) {
	switch o.Surface {
	case "dapi.yaml":
		token, missing = s.Session.Access, target.KeyFileVariable
	case "appapi.yaml":
		token, missing = s.APIKey.Reveal(), target.APIKeyVariable
	case "refapi.yaml":
		token, missing = s.AccessToken.Reveal(), target.AccessTokenVariable
	default:
		return "", ""
	}
	if token != "" {
		missing = ""
	}
	return token, missing
}

// read calls an operation with its credential, on behalf of a client if acting is not empty.
func (s *Survey) read(ctx context.Context, o *wire.Operation, path, acting string) (target.Reply, error) {
	var headers []string
	if token, _ := s.credential(o); token != "" {
		headers = append(headers, "Authorization", "Bearer "+token)
	}
	if acting != "" {
		headers = append(headers, actsFor, acting)
	}
	return s.send(ctx, path, headers...)
}

// send waits once for a full rate window.
func (s *Survey) send(ctx context.Context, path string, headers ...string) (target.Reply, error) {
	reply, err := s.Caller.Send(ctx, http.MethodGet, path, nil, headers...)
	if err != nil || reply.Status != http.StatusTooManyRequests {
		return reply, err
	}
	seconds, wrong := strconv.Atoi(reply.Header.Get("Retry-After"))
	wait := time.Duration(seconds) * time.Second
	if wrong != nil || wait > longestWait {
		return reply, nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return s.Caller.Send(ctx, http.MethodGet, path, nil, headers...)
	case <-ctx.Done():
		return target.Reply{}, ctx.Err()
	}
}

// note keeps how a case ended.
func (s *Survey) note(c report.Case) {
	s.cases = append(s.cases, c)
	if s.Noted != nil {
		s.Noted(c)
	}
}

// ended notes a read: it passed if the host carried it out. A refusal is not a failure, because an account may lack
// what the operation shows. What a refusal shows is in the report.
func (s *Survey) ended(flow, name string, reply target.Reply, started time.Time) {
	c := report.Case{Flow: flow, Name: name, Outcome: report.Passed, Took: time.Since(started)}
	if !reply.Accepted() {
		c.Outcome = report.Skipped
		c.Reason = strings.TrimSpace(fmt.Sprintf("the host refused: %d %s", reply.Status, reply.Slug()))
	}
	s.note(c)
}

// flowOf is the surface of an operation.
func flowOf(o *wire.Operation) string { return strings.TrimSuffix(o.Surface, ".yaml") }

// ErrShowsNothing means that without a developer key a host cannot show that it is a sandbox.
var ErrShowsNothing = errors.New("without a developer key the host cannot show that it is a sandbox")

// treasury is the operation that only a sandbox has.
const treasury = "/dapi/v1/sandbox/treasury"

// Host is what a check reads, and the credentials for it. Each credential may be missing.
type Host struct {
	BaseURL     *url.URL // without /dapi/v1
	Email       string
	Key         signing.Signer // nil without a developer key
	APIKey      moneymovement.Secret
	AccessToken moneymovement.Secret
}

// Options of a check. The zero Options read a sandbox, as fast as it responds.
type Options struct {
	// AnyHost allows the reads on a host that has not shown that it is a sandbox.
	AnyHost bool
	// Pause is the time between two requests.
	Pause time.Duration
	// IDs are ids that no list shows, as in Survey.
	IDs map[string][]string
	// Noted is called for each case as it ends. It may be nil.
	Noted func(report.Case)
}

// Check reads a host with the credentials that are given, and returns what the responses show. It sends the login, one
// refresh and reads, and nothing else. A host must first show that it is a sandbox, by its treasury, or the error is
// [target.ErrNotSandbox]. Other errors mean that the login was refused or that no response arrived.
func Check(ctx context.Context, host Host, next http.RoundTripper, options Options) (*report.Report, error) {
	if host.Key == nil && !options.AnyHost {
		return nil, ErrShowsNothing
	}
	description, err := wire.Read(openapi.Files)
	if err != nil {
		return nil, err
	}
	validator, err := report.NewValidator()
	if err != nil {
		return nil, err
	}
	guard := &target.Guard{Next: next, BaseURL: host.BaseURL, ReadOnly: true, AnyHost: options.AnyHost,
		Pause: options.Pause, WritePause: options.Pause}
	log := report.NewLog(description, host.BaseURL.Path)
	s := &Survey{
		Description: description, Log: log, APIKey: host.APIKey, AccessToken: host.AccessToken,
		Caller: &target.Caller{BaseURL: host.BaseURL.String(), Next: &report.Observer{Next: guard, Log: log}},
		IDs:    options.IDs, Noted: options.Noted,
	}
	started := time.Now()
	if host.Key != nil {
		if err := s.logIn(ctx, host, options.AnyHost); err != nil {
			return nil, err
		}
	}
	cases, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	judged := report.Judge(description, validator, log.Exchanges())
	judged.Host, judged.ReadOnly, judged.Started, judged.Cases = host.BaseURL.Redacted(), true, started, cases
	judged.Took = time.Since(started)
	return judged, nil
}

// logIn opens a session, renews it once, and asks for the treasury.
func (s *Survey) logIn(ctx context.Context, host Host, anyHost bool) error {
	session, err := s.Caller.LogIn(ctx, host.Email, host.Key, time.Now())
	if err != nil {
		return err
	}
	s.Session = session
	reply, err := s.send(ctx, treasury, bearer(session.Access)...)
	if err != nil {
		return err
	}
	if !reply.Accepted() && !anyHost {
		return fmt.Errorf("%w: GET %s: %d %s", target.ErrNotSandbox, treasury, reply.Status, reply.Slug())
	}
	renewed, err := s.Caller.Renew(ctx, session)
	if err == nil && renewed.Accepted() && renewed.Text("accessToken") != "" {
		s.Session = target.Session{Access: renewed.Text("accessToken"), Refresh: renewed.Text("refreshToken")}
	}
	return err
}
