package survey

import (
	"context"
	"maps"
	"net/http"
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

// ClientID is the name of the ids of clients.
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

// flowSelections has the reads with a query.
const flowSelections = "selections"

// selections calls each operation that was carried out once more for each value that its query may have.
func (s *Survey) selections(ctx context.Context) error {
	done := map[*wire.Operation]bool{}
	for _, x := range s.Log.Exchanges() {
		o := x.Operation
		if o == nil || done[o] || x.Scripted || !x.Accepted() || x.Method != http.MethodGet || len(x.Query) > 0 ||
			x.ActsFor() != "" {
			continue
		}
		if _, missing := s.credential(o); missing != "" {
			continue
		}
		done[o] = true
		for _, parameter := range o.Parameters() {
			if parameter.At("in").Text() != "query" {
				continue
			}
			name := parameter.At("name").Text()
			for _, value := range s.choices(parameter, x) {
				if err := s.selectBy(ctx, x, url.Values{name: {value}}, name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// selectBy reads with a query. If the response names a next page, it reads that page as well.
func (s *Survey) selectBy(ctx context.Context, x *report.Exchange, query url.Values, name string) error {
	started := time.Now()
	reply, err := s.read(ctx, x.Operation, x.Path+"?"+query.Encode(), "")
	if err != nil {
		return err
	}
	s.ended(flowSelections, x.Name()+" by "+name, reply, started)
	cursor := reply.Text("nextCursor")
	if cursor == "" || query.Has("cursor") {
		return nil
	}
	query.Set("cursor", cursor)
	return s.selectBy(ctx, x, query, "cursor")
}

// choices are values of a parameter that a host should take: those of its enumeration, or those that the responses
// show. A cursor comes from the page before.
func (s *Survey) choices(parameter wire.Node, x *report.Exchange) []string {
	name := parameter.At("name").Text()
	for _, layer := range parameter.At("schema").Layers() {
		if values := layer.At("enum").Texts(); len(values) > 0 {
			return values
		}
		switch {
		case layer.At("type").Text() == "integer":
			return []string{"1"}
		case layer.At("type").Text() == "boolean":
			return []string{"true", "false"}
		case layer.At("format").Text() == "date-time":
			return []string{time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)}
		}
	}
	if name == "cursor" {
		return nil
	}
	for _, entry := range entries(x) {
		if shown, _ := entry[name].(string); shown != "" {
			return []string{shown}
		}
	}
	if shown := s.harvest()[scopeOf(x.Operation, "")][normalized(name)]; len(shown) > 0 {
		return shown[:1]
	}
	return nil
}

// fixedValues are values that no response has.
var fixedValues = map[string][]string{"currency": {"EUR"}}

// values are what placeholders may stand for, by where they count and the kind of the placeholder, such as payoutid.
type values map[scope]map[string][]string

// scope says where an id counts. The platform API has its own ids, and each client has its own. The other surfaces show
// the same things.
type scope struct {
	platform bool
	actsFor  string
}

func scopeOf(o *wire.Operation, acting string) scope { return scope{o.Surface == "dapi.yaml", acting} }

// harvest collects the ids of all responses so far.
func (s *Survey) harvest() values {
	known := values{}
	for kind, all := range fixedValues {
		known.add(scope{}, kind, all...)
	}
	for name, ids := range s.IDs {
		for _, in := range []scope{{platform: true}, {}} {
			known.add(in, normalized(name), ids...)
		}
	}
	lists := s.lists()
	for _, x := range s.Log.Exchanges() {
		if x.Operation == nil || !x.Accepted() || x.Scripted {
			continue
		}
		in := scopeOf(x.Operation, x.ActsFor())
		known.members(in, x.Response)
		if kind, is := lists[x.Operation]; is {
			for _, entry := range entries(x) {
				if id, _ := entry["id"].(string); id != "" {
					known.add(in, kind, id)
				}
			}
		}
	}
	return known
}

// lists are the operations whose entries another operation reads one by one, with the kind of their ids.
func (s *Survey) lists() map[*wire.Operation]string {
	kinds := map[*wire.Operation]string{}
	for _, o := range s.gets() {
		steps := strings.Split(o.Template, "/")
		for i, step := range steps {
			if isPlaceholder(step) {
				if list := s.Description.Find("GET", strings.Join(steps[:i], "/")); list != nil {
					kinds[list] = kindOf(steps, i)
				}
				break
			}
		}
	}
	return kinds
}

// kindOf names a placeholder: {invoice_id} and {invoiceId} are an invoiceid, and so is {id} after /invoices/.
func kindOf(steps []string, i int) string {
	name := normalized(strings.Trim(steps[i], "{}"))
	if name == "id" && i > 0 {
		return normalized(strings.TrimSuffix(steps[i-1], "s")) + name
	}
	return name
}

func normalized(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// members notes every member that is an id of something, such as payoutId.
func (v values) members(in scope, body any) {
	switch node := body.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(node)) {
			value := node[name]
			if id, is := value.(string); is && len(name) > 2 && strings.HasSuffix(normalized(name), "id") {
				v.add(in, normalized(name), id)
			}
			v.members(in, value)
		}
	case []any:
		for _, entry := range node {
			v.members(in, entry)
		}
	}
}

func (v values) add(in scope, kind string, all ...string) {
	if v[in] == nil {
		v[in] = map[string][]string{}
	}
	for _, value := range all {
		if value != "" && len(v[in][kind]) < mostValues && !slices.Contains(v[in][kind], value) {
			v[in][kind] = append(v[in][kind], value)
		}
	}
}

// paths are the paths of an operation with known values. No operation that reads has two placeholders.
func (v values) paths(o *wire.Operation, acting string) (paths []string) {
	if len(placeholders(o)) == 0 {
		return []string{o.Template}
	}
	kind := ""
	at(o, func(placeholder string) string { kind = placeholder; return "" })
	for _, value := range v[scopeOf(o, acting)][kind] {
		paths = append(paths, at(o, func(string) string { return value }))
	}
	return paths
}

// entries are the objects of a list, whether a member holds the list or not.
func entries(x *report.Exchange) (objects []map[string]any) {
	lists := []any{x.Response}
	if wrapper, wrapped := x.Response.(map[string]any); wrapped {
		lists = nil
		for _, name := range slices.Sorted(maps.Keys(wrapper)) {
			lists = append(lists, wrapper[name])
		}
	}
	for _, list := range lists {
		entries, _ := list.([]any)
		for _, entry := range entries {
			if object, is := entry.(map[string]any); is {
				objects = append(objects, object)
			}
		}
	}
	return objects
}
