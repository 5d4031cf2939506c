package survey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/openapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

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
	shown, err := s.send(ctx, treasury, bearer(session.Access)...)
	if err != nil {
		return err
	}
	if !shown.Accepted() && !anyHost {
		return fmt.Errorf("%w: GET %s: %d %s", target.ErrNotSandbox, treasury, shown.Status, shown.Slug())
	}
	renewed, err := s.Caller.Renew(ctx, session)
	if err == nil && renewed.Accepted() && renewed.Text("accessToken") != "" {
		s.Session = target.Session{Access: renewed.Text("accessToken"), Refresh: renewed.Text("refreshToken")}
	}
	return err
}
