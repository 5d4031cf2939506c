package contract_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/recorded"
)

// fromRecordings is a service that returns the recorded response of each operation.
type fromRecordings struct{ *suite }

func (f fromRecordings) RoundTrip(r *http.Request) (*http.Response, error) {
	return recorded.Response(strings.Replace(f.description.Find(r.Method, r.URL.Path).Name(), " ", ".", 1), time.Now())
}

// The responses that users' fakes return are judged as those of a host are: each operation has one, with all that the
// description requires and nothing else. To correct one, edit its line in recorded/responses.jsonl.
func TestTheRecordedResponsesAreLikeAHosts(t *testing.T) {
	s := newSuite(t, nil)
	service := &report.Observer{Next: fromRecordings{s}, Log: s.log}
	var operations []string
	for _, o := range s.description.Operations {
		operations = append(operations, strings.Replace(o.Name(), " ", ".", 1))
		request, err := http.NewRequestWithContext(t.Context(), o.Method,
			"http://localhost"+strings.NewReplacer("{", "", "}", "").Replace(o.Template), nil)
		require.NoError(t, err)
		response, err := service.RoundTrip(request)
		require.NoError(t, err)
		assert.NoError(t, response.Body.Close())
	}
	assert.ElementsMatch(t, operations, recorded.Operations())
	judged := s.judge()
	for _, a := range judged.Of(report.Contradicted) {
		if !strings.HasPrefix(a.Evidence.Field, "request ") { // the requests are made up
			t.Errorf("%s: %s %s: %s", a.Where, a.Evidence.Operation, a.Evidence.Field, a.Evidence.Seen)
		}
	}
	for _, f := range judged.Deviations {
		if !strings.HasPrefix(f.Field, "request ") {
			t.Errorf("%s %s: %s", f.Operation, f.Field, f.Seen)
		}
	}
	assert.Empty(t, judged.Violations)
	assert.Empty(t, judged.Undescribed)
	assert.Greater(t, judged.Count(report.Confirmed), 300)
}
