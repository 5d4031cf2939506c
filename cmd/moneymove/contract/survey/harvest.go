package survey

import (
	"maps"
	"slices"
	"strings"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// given are values that no response shows.
var given = map[string][]string{"currency": {"EUR"}}

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
	for kind, all := range given {
		known.add(scope{}, kind, all...)
	}
	for name, ids := range s.IDs {
		for _, in := range []scope{{platform: true}, {}} {
			known.add(in, spelled(name), ids...)
		}
	}
	lists := s.lists()
	for _, x := range s.Log.Exchanges() {
		if x.Operation == nil || !x.Accepted() || x.Scripted {
			continue
		}
		in := scopeOf(x.Operation, x.ActsFor())
		known.members(in, x.Answer)
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
	name := spelled(strings.Trim(steps[i], "{}"))
	if name == "id" && i > 0 {
		return spelled(strings.TrimSuffix(steps[i-1], "s")) + name
	}
	return name
}

func spelled(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// members notes every member that is an id of something, such as payoutId.
func (v values) members(in scope, answer any) {
	switch node := answer.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(node)) {
			value := node[name]
			if id, is := value.(string); is && len(name) > 2 && strings.HasSuffix(spelled(name), "id") {
				v.add(in, spelled(name), id)
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
	lists := []any{x.Answer}
	if answer, wrapped := x.Answer.(map[string]any); wrapped {
		lists = nil
		for _, name := range slices.Sorted(maps.Keys(answer)) {
			lists = append(lists, answer[name])
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
