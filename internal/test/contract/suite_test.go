package contract_test

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/openapi"
	"github.com/moneymovement/moneymovement-go/recorded"
)

// reportVariable names the folder that the report is written to; without it, none is written.
const reportVariable = "MONEYMOVEMENT_CONTRACT_REPORT"

// A real host gets at most 240 requests a minute, and 100 writes of the platform API, which leaves something of the
// credential's windows to whoever else uses it. The SDK would pace its own writes, but not those that the suite makes
// by hand.
//
// Source: Limits, Rate windows.
const (
	pause      = 250 * time.Millisecond
	writePause = 600 * time.Millisecond
)

// suite is one run: what it runs against, what the host returned, and how its cases ended.
type suite struct {
	description *wire.Description
	validator   *report.Validator
	real        *target.Real // nil: the embedded host
	pause       time.Duration
	writePause  time.Duration
	retries     moneymovement.RetryPolicy
	log         *report.Log
	report.Report
	claims []report.Claim
}

// The runs share the descriptions, which nothing changes once they are read.
var (
	readDescription = sync.OnceValues(func() (*wire.Description, error) { return wire.Read(openapi.Files) })
	newValidator    = sync.OnceValues(report.NewValidator)
)

func newSuite(t *testing.T, named *target.Real) *suite {
	t.Helper()
	description, err := readDescription()
	require.NoError(t, err)
	validator, err := newValidator()
	require.NoError(t, err)
	s := &suite{description: description, validator: validator, real: named, pause: pause, writePause: writePause}
	s.Host, s.Started = "the embedded host", time.Now()
	base := ""
	if named != nil {
		s.Host, base = named.BaseURL.Redacted(), named.BaseURL.Path
	}
	s.log = report.NewLog(description, base)
	return s
}

// TestContract runs every flow against the embedded host, or against the sandbox host that the environment names, and
// reports what the responses show. On the embedded host, every operation has to be called, every slug seen, and no
// assumption contradicted.
func TestContract(t *testing.T) {
	named, err := target.FromEnvironment(os.Getenv)
	require.NoError(t, err)
	s := newSuite(t, named)
	w := s.open(t, nil)
	complete := s.run(t, w)
	judged := s.judge()
	s.write(t, judged)
	requireAsDescribed(t, judged)
	if named == nil && complete {
		requireComplete(t, judged)
		for currency, sum := range w.host.Ledger().Sums {
			assert.True(t, sum.IsZero(), "the books of %s do not add up: %s", currency, sum)
		}
	}
}

// run runs every flow and cleans up. It is complete if no flow failed, and none was left out by go test -run.
func (s *suite) run(t *testing.T, w *world) (complete bool) {
	t.Helper()
	w.requireSandbox()
	ran, passed := 0, true
	for _, f := range flows {
		passed = t.Run(f.name, func(t *testing.T) { ran++; w.flow(t, f) }) && passed
	}
	w.T = t
	w.cleanUp()
	return passed && ran == len(flows) && !w.filtered
}

// flow is a part of the suite, with what it needs beyond the developer key.
type flow struct {
	name  string
	run   func(*world)
	needs func(*target.Real) (missing string)
}

func needsAPIKey(r *target.Real) string {
	if !target.IsSet(r.APIKey) {
		return target.APIKeyVariable
	}
	return ""
}

func needsAccessToken(r *target.Real) string {
	if !target.IsSet(r.AccessToken) {
		return target.AccessTokenVariable
	}
	return ""
}

var flows = []flow{
	{"login", (*world).login, nil},
	{"clients", (*world).clients, nil},
	{"payins", (*world).payins, nil},
	{"contacts", (*world).contacts, nil},
	{"payouts", (*world).payouts, nil},
	{"escrow", (*world).escrow, nil},
	{"ledger", (*world).ledger, nil},
	{"account", (*world).account, needsAPIKey},
	{"paperwork", (*world).paperwork, needsAPIKey},
	{"cards", (*world).cards, needsAPIKey},
	{"transfers", (*world).transfers, needsAPIKey},
	{"reference", (*world).referenceEndpoints, needsAccessToken},
	{"public", (*world).publicUtilities, nil},
	{"reads", (*world).reads, nil},
	{"refusals", (*world).refusals, nil},
	{"probes", (*world).probes, nil},
	{"repeats", (*world).repeats, nil},
}

// judge says what the responses show.
func (s *suite) judge() *report.Report {
	judged := report.Judge(s.description, s.validator, s.log.Exchanges(), s.claims...)
	judged.Host, judged.Started, judged.Cases = s.Host, s.Started, s.Cases
	judged.Took = time.Since(s.Started)
	return judged
}

// requireAsDescribed fails the test for what differs from the description.
func requireAsDescribed(t *testing.T, judged *report.Report) {
	t.Helper()
	for _, a := range judged.Of(report.Contradicted) {
		t.Errorf("%s: %s, %s: %s %s: %s: %s", a.Position(), a.Where, a.What(), a.Evidence.Operation, a.Evidence.Field,
			a.Evidence.Seen, a.Edit())
	}
	for _, f := range judged.Deviations {
		t.Errorf("deviates from what is stated: %s %s: %s", f.Operation, f.Field, f.Seen)
	}
	assert.Empty(t, judged.Violations)
}

// requireComplete fails the test for what the embedded host should have shown, and did not.
func requireComplete(t *testing.T, judged *report.Report) {
	t.Helper()
	for _, o := range judged.Operations {
		assert.Positive(t, o.Accepted, "nothing called %s %s", o.Surface, o.ID)
	}
	for _, slug := range judged.Slugs {
		assert.Positive(t, slug.Responses, "nothing provoked %s", slug.Slug)
	}
	assert.Zero(t, judged.Count(report.Contradicted))
	assert.Empty(t, judged.Undescribed)
}

// write writes the report's two forms where the environment says.
func (s *suite) write(t *testing.T, judged *report.Report) {
	folder := os.Getenv(reportVariable)
	if folder == "" {
		return
	}
	require.NoError(t, judged.WriteFiles(folder))
}

// skip notes a case that did not run.
func (s *suite) skip(flow, name, reason string) {
	s.Cases = append(s.Cases, report.Case{Flow: flow, Name: name, Outcome: report.Skipped, Reason: reason})
}

// guarded is the way to a real host.
func (s *suite) guarded(t *testing.T) http.RoundTripper {
	t.Helper()
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	t.Cleanup(transport.CloseIdleConnections)
	return &target.Guard{Next: transport, BaseURL: s.real.BaseURL, Pause: s.pause, WritePause: s.writePause}
}

// fromRecordings is a service that returns the recorded response of each operation.
type fromRecordings struct{ *suite }

func (f fromRecordings) RoundTrip(r *http.Request) (*http.Response, error) {
	return recorded.Response(strings.Replace(f.description.Find(r.Method, r.URL.Path).Name(), " ", ".", 1), time.Now())
}

// The responses that users' fakes return are judged as those of a host are: each operation has one, with all that the
// description requires and nothing else. To correct one, edit its line in recorded/responses.jsonl.
func TestRecordedResponsesMatchTheDescription(t *testing.T) {
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

// undone says how what an operation made goes away: the request, with the made id in the place of {id}. Invoices stay
// as cancelled, and clients, cards and what moved money stay: nothing removes them.
var undone = map[string]struct{ method, path, body string }{
	"dapi CreateContact":    {http.MethodDelete, "/dapi/v1/contacts/{id}", ""},
	"appapi CreateContact":  {http.MethodDelete, "/user/contacts/{id}", ""},
	"appapi CreateContract": {http.MethodDelete, "/documents/contracts/{id}", ""},
	"appapi CreateInvoice": {http.MethodPut, "/documents/contracts/invoices/{id}",
		`{"status":"cancelled"}`},
	"appapi CreateInvoiceFromContract": {http.MethodPut, "/documents/contracts/invoices/{id}",
		`{"status":"cancelled"}`},
	"appapi CreateUploadedInvoice": {http.MethodPut, "/documents/contracts/invoices/{id}",
		`{"status":"cancelled"}`},
	"appapi CreateInvoiceBatch": {http.MethodPut, "/documents/contracts/invoices/{id}",
		`{"status":"cancelled"}`},
}

// cleanUp removes what the run made, as the log of it says: also what a probe made that should have been refused.
func (w *world) cleanUp() {
	w.Helper()
	if w.host != nil {
		return // it ends with the run
	}
	removed := map[string]bool{}
	exchanges := w.suite.log.Exchanges()
	for _, x := range exchanges {
		if x.Method == http.MethodDelete && x.Accepted() {
			removed[x.Path] = true
		}
	}
	for _, x := range exchanges {
		undo, makes := undone[x.Name()]
		if !makes || !x.Accepted() {
			continue
		}
		for _, id := range idsOf(x.Response) {
			path := strings.ReplaceAll(undo.path, "{id}", id)
			if removed[path] {
				continue
			}
			removed[path] = true
			w.undo(x, undo.method, path, undo.body)
		}
	}
}

// idsOf are the ids of what a response shows: one thing, or a list of them.
func idsOf(response any) (ids []string) {
	shown, _ := response.(map[string]any)
	if id, is := shown["id"].(string); is && id != "" {
		return []string{id}
	}
	list, _ := shown["items"].([]any)
	for _, entry := range list {
		ids = append(ids, idsOf(entry)...)
	}
	return ids
}

// undo sends the request with the credential that made the thing. What is left is told, and fails nothing.
func (w *world) undo(x *report.Exchange, method, path, body string) {
	w.Helper()
	request := x.Again(w.Context(), report.Change{Body: []byte(body)})
	request.Method, request.URL.Path, request.URL.RawPath = method, strings.TrimSuffix(w.suite.real.BaseURL.Path,
		"/")+path, ""
	if response := w.deliver(request); response.Status >= http.StatusMultipleChoices {
		w.Logf("left behind: %s returned %d %s", method, response.Status, response.Slug())
	}
}
