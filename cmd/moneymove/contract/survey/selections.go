package survey

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

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
	if shown := s.harvest()[scopeOf(x.Operation, "")][spelled(name)]; len(shown) > 0 {
		return shown[:1]
	}
	return nil
}
