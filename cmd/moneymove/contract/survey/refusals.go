package survey

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/errors"
)

// The flows of reads that a host must refuse.
const (
	flowRefusals = "refusals"
	flowDemands  = "demands"
)

// Refusal is a read of the platform API that a host must refuse with a slug.
type Refusal struct {
	Slug errors.Code
	Path string
	With func(target.Session) string // the bearer token, or ""
}

// Refusals are the reads of the platform API that provoke a slug.
var Refusals = []Refusal{
	{errors.CodeInvalidCursor, "/dapi/v1/transactions?cursor=x", access},
	{errors.CodeInvalidID, "/dapi/v1/payouts/ct_1", access},
	{errors.CodeNotFound, "/dapi/v1/payouts/po_1", access},
	{errors.CodeUnauthenticated, "/dapi/v1/chains", func(target.Session) string { return "" }},
	{errors.CodeForbidden, "/dapi/v1/chains", func(s target.Session) string { return s.Refresh }},
}

func access(s target.Session) string { return s.Access }

// Provoke sends the read.
func (r Refusal) Provoke(ctx context.Context, c *target.Caller, session target.Session) (target.Reply, error) {
	return c.Send(ctx, http.MethodGet, r.Path, nil, bearer(r.With(session))...)
}

func bearer(token string) []string {
	if token == "" {
		return nil
	}
	return []string{"Authorization", "Bearer " + token}
}

// refusals provokes slugs, reads without a credential and with a wrong one, and asks for what does not exist.
func (s *Survey) refusals(ctx context.Context) error {
	for _, r := range Refusals {
		if s.Session.Access == "" {
			break
		}
		started := time.Now()
		reply, err := s.send(ctx, r.Path, bearer(r.With(s.Session))...)
		if err != nil {
			return err
		}
		s.noteRefusal(string(r.Slug), reply, r.Slug, started)
	}
	surfaces := map[string]bool{}
	for _, o := range s.gets() {
		token, missing := s.credential(o)
		if missing != "" {
			continue
		}
		if len(placeholders(o)) > 0 {
			if err := s.refuse(ctx, o.Name()+", unknown id", unknownPath(o), bearer(token)); err != nil {
				return err
			}
		} else if token != "" && !surfaces[o.Surface] {
			surfaces[o.Surface] = true
			if err := s.refuse(ctx, o.Name()+", no credential", o.Template, nil); err != nil {
				return err
			}
			if err := s.refuse(ctx, o.Name()+", wrong credential", o.Template, bearer("unknown")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Survey) refuse(ctx context.Context, name, path string, headers []string) error {
	started := time.Now()
	reply, err := s.send(ctx, path, headers...)
	if err == nil {
		s.noteRefusal(name, reply, "", started)
	}
	return err
}

// noteRefusal notes a read that has to be refused, with a slug if one is given.
func (s *Survey) noteRefusal(name string, reply target.Reply, slug errors.Code, started time.Time) {
	c := report.Case{Flow: flowRefusals, Name: name, Outcome: report.Passed, Took: time.Since(started)}
	switch {
	case reply.Accepted():
		c.Outcome, c.Reason = report.Failed, fmt.Sprintf("the host responded %d, and should refuse", reply.Status)
	case reply.Status == http.StatusTooManyRequests || reply.Status >= http.StatusInternalServerError:
		c.Outcome, c.Reason = report.Skipped, fmt.Sprintf("the host responded %d %s", reply.Status, reply.Slug())
	case slug != "" && reply.Slug() != string(slug):
		c.Outcome, c.Reason = report.Failed, fmt.Sprintf("the host responded %d %s", reply.Status, reply.Slug())
	}
	s.note(c)
}

// unknownPath is the path of an operation with an id that nothing has. Where the form of ids is stated, the id has it.
func unknownPath(o *wire.Operation) string {
	prefix := ""
	for _, parameter := range o.Parameters() {
		for _, layer := range parameter.At("schema").Layers() {
			if stated := layer.At("x-id-prefix").Text(); stated != "" && parameter.At("in").Text() == "path" {
				prefix = stated
			}
		}
	}
	return at(o, func(kind string) string {
		switch {
		case prefix != "":
			return prefix + "unknown"
		case kind == "currency":
			return "AAA" // the code of no currency
		default:
			return "00000000-0000-4000-8000-000000000000"
		}
	})
}

// unmetDemands sends reads once more with one assumed demand not met, such as a limit that is too high. If the host
// refuses, that confirms the assumption. If it carries the read out, that contradicts it.
func (s *Survey) unmetDemands(ctx context.Context) error {
	for _, p := range report.Probes(s.Description, s.Log.Exchanges()) {
		if p.Of.Method != http.MethodGet {
			continue
		}
		if _, missing := s.credential(p.Of.Operation); missing != "" {
			continue
		}
		started := time.Now()
		if _, err := s.Again(ctx, p.Of, p.Change); err != nil { // the report says what the response shows
			return err
		}
		s.note(report.Case{Flow: flowDemands, Name: p.Name(), Outcome: report.Passed, Took: time.Since(started)})
	}
	return nil
}

// Again makes a recorded request once more. On the platform API it has the token of this survey, because the recorded
// one may have expired.
func (s *Survey) Again(ctx context.Context, x *report.Exchange, change report.Change) (target.Reply, error) {
	request := x.Again(ctx, change)
	if x.Operation.Surface == "dapi.yaml" && request.Header.Get("Authorization") != "" {
		request.Header.Set("Authorization", "Bearer "+s.Session.Access)
	}
	return s.Caller.Deliver(request)
}
