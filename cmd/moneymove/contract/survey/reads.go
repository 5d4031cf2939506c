package survey

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// actsFor is the header that names the client to act for.
const actsFor = "X-Service-Account"

// reads calls each operation with every id that it knows, until the responses show no further ids.
func (s *Survey) reads(ctx context.Context) error {
	for again := true; again; {
		again = false
		known := s.harvest()
		for _, o := range s.gets() {
			if _, missing := s.credential(o); missing != "" {
				continue
			}
			for _, acting := range s.actors(o) {
				for _, path := range known.paths(o, acting) {
					if s.called[acting+" "+path] {
						continue
					}
					s.called[acting+" "+path], again = true, true
					if err := s.readOne(ctx, o, path, acting); err != nil {
						return err
					}
				}
			}
		}
	}
	s.notCalled()
	return nil
}

func (s *Survey) readOne(ctx context.Context, o *wire.Operation, path, acting string) error {
	started := time.Now()
	reply, err := s.read(ctx, o, path, acting)
	if err != nil {
		return err
	}
	name := o.ID
	if acting != "" {
		name += " on behalf of a client"
	}
	s.ended(flowOf(o), name, reply, started)
	return nil
}

// ofAClient begins the paths of what only clients have. The account itself is verified elsewhere.
const ofAClient = "/dapi/v1/client/"

// actors are those that an operation is called for: the account itself, and the clients that are named.
func (s *Survey) actors(o *wire.Operation) (actors []string) {
	if !strings.HasPrefix(o.Template, ofAClient) {
		actors = append(actors, "")
	}
	if slices.ContainsFunc(o.Parameters(), func(p wire.Node) bool { return p.At("name").Text() == actsFor }) {
		actors = append(actors, s.IDs[ClientID]...)
	}
	return actors
}

// ClientID is the name under which clients are given.
const ClientID = "clientId"

// notCalled notes the operations that nothing called, with the reason.
func (s *Survey) notCalled() {
	known := s.harvest()
	for _, o := range s.gets() {
		reason := ""
		if _, missing := s.credential(o); missing != "" {
			reason = "needs " + missing
		} else if len(known.paths(o, "")) == 0 {
			reason = "no response shows a value of " + strings.Join(placeholders(o), ", ")
		} else if len(s.actors(o)) == 0 {
			reason = "needs a client: no list shows clients, so give a clientId"
		}
		if reason != "" {
			s.note(report.Case{Flow: flowOf(o), Name: o.ID, Outcome: report.Skipped, Reason: reason})
		}
	}
}

// placeholders are the names in the path of an operation.
func placeholders(o *wire.Operation) (names []string) {
	for step := range strings.SplitSeq(o.Template, "/") {
		if isPlaceholder(step) {
			names = append(names, strings.Trim(step, "{}"))
		}
	}
	return names
}

func isPlaceholder(step string) bool {
	return strings.HasPrefix(step, "{") && strings.HasSuffix(step, "}")
}

// at is the path of an operation with values in place of its placeholders.
func at(o *wire.Operation, value func(placeholder string) string) string {
	steps := strings.Split(o.Template, "/")
	for i, step := range steps {
		if isPlaceholder(step) {
			steps[i] = url.PathEscape(value(kindOf(steps, i)))
		}
	}
	return strings.Join(steps, "/")
}
