// Package peers measures the SDKs of other services, to compare the SDK with them. Each reads a resource of its own
// shape, padded to the size of ours, beside a client written by hand that reads the same bytes.
package peers

import (
	"context"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/moneymovement/moneymovement-go/bench/internal/cases"
	"github.com/moneymovement/moneymovement-go/bench/internal/service"
)

// peer is the SDK of another service.
type peer struct {
	id     string
	module string
	// one, page and missing are the responses: a resource, a hundred of them, and a refusal with status 404.
	one, page, missing string
	sdk, hand          func(base string, client *http.Client) calls
}

// calls are what a side can do. refused returns the typed error as what it has read.
type calls struct{ get, page, refused cases.Read }

func peers() []peer { return []peer{stripePeer(), hcloudPeer(), githubPeer(), openaiPeer()} }

// IDs are the short names of all peers.
func IDs() (ids []string) {
	for _, p := range peers() {
		ids = append(ids, p.id)
	}
	return ids
}

// One returns the response with one resource of a peer.
func One(id string) (response string, found bool) {
	for _, p := range peers() {
		if p.id == id {
			return p.one, true
		}
	}
	return "", false
}

// All are the cases of all peers, in memory.
func All() []cases.Case {
	var all []cases.Case
	for _, p := range peers() {
		group := p.module[strings.LastIndex(p.module, "/")+1:]
		if strings.HasPrefix(group, "v") { // the major version is part of the path
			short := strings.TrimSuffix(p.module, "/"+group)
			group = short[strings.LastIndex(short, "/")+1:]
		}
		group += " " + versionOf(p.module)
		for _, kind := range []struct {
			id, title string
			status    int
			body      string
			choose    func(calls) cases.Read
		}{
			{"get", "GET of one resource", http.StatusOK, p.one, func(c calls) cases.Read { return c.get }},
			{"page", "page of 100", http.StatusOK, p.page, func(c calls) cases.Read { return c.page }},
			{"error-404", "typed error 404", http.StatusNotFound, p.missing, func(c calls) cases.Read {
				return c.refused
			}},
		} {
			side := func(way func(string, *http.Client) calls) cases.Side {
				s := service.Always(kind.status, kind.body)
				return cases.InMemory(s, kind.choose(way(service.BaseURL+"/", &http.Client{Transport: s})))
			}
			all = append(all, cases.Case{
				ID: p.id + "/" + kind.id, Group: group, Title: kind.title, Callers: 1,
				Open: func() (library, hand cases.Side, err error) { return side(p.sdk), side(p.hand), nil },
			})
		}
	}
	return all
}

// versionOf returns the version of a module that this program is linked from.
func versionOf(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return dependency.Version
			}
		}
	}
	return ""
}

// reads returns what a call reads.
func reads[T any](call func(ctx context.Context) (T, error)) cases.Read {
	return func(ctx context.Context) (any, error) { return call(ctx) }
}

// refuses is reads for a call that must end with an error of the type E.
func refuses[E error, T any](call func(ctx context.Context) (T, error)) cases.Read {
	return cases.Refused[E](reads(call))
}
