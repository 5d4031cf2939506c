package contract_test

import (
	"net/http"
	"strings"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
)

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
		for _, id := range idsOf(x.Answer) {
			path := strings.ReplaceAll(undo.path, "{id}", id)
			if removed[path] {
				continue
			}
			removed[path] = true
			w.undo(x, undo.method, path, undo.body)
		}
	}
}

// idsOf are the ids of what an answer shows: one thing, or a list of them.
func idsOf(answer any) (ids []string) {
	shown, _ := answer.(map[string]any)
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
	if answer := w.deliver(request); answer.Status >= http.StatusMultipleChoices {
		w.Logf("left behind: %s answered %d %s", method, answer.Status, answer.Slug())
	}
}
