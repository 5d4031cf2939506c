package appapi_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
)

// TestListsArePagedByOffset to an empty page, whatever the total says.
func TestListsArePagedByOffset(t *testing.T) {
	const most = 50 // entries in a page of the service
	walk := func(entries int, total string, params appapi.ListContactsParams) (names, asked []string) {
		server, app := serve(t, func(w http.ResponseWriter, r *http.Request) {
			offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
			limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
			if err != nil || limit > most {
				limit = most
			}
			var items []string
			for i := offset; i < min(offset+limit, entries); i++ {
				items = append(items, fmt.Sprintf(`{"id":"%d","createdAt":"2026-01-02T03:04:05Z"}`, i))
			}
			fmt.Fprintf(w, `{"items":[%s]%s}`, strings.Join(items, ","), total)
		})
		all := app.Contacts.All(t.Context(), params)
		for range 2 { // it can be ranged over again
			names = nil
			for contact, err := range all {
				require.NoError(t, err)
				names = append(names, contact.ID)
			}
		}
		for _, request := range server.requests()[len(server.requests())/2:] {
			asked = append(asked, strings.TrimPrefix(request.what, "GET /user/contacts"))
		}
		return names, asked
	}
	for name, c := range map[string]struct {
		entries int
		total   string
		params  appapi.ListContactsParams
		found   int
		asked   []string
	}{
		"with a total": {5, `,"total":5`, appapi.ListContactsParams{Limit: 2}, 5,
			[]string{"?limit=2", "?limit=2&offset=2", "?limit=2&offset=4", "?limit=2&offset=5"}},
		"a total at a bound": {4, `,"total":4`, appapi.ListContactsParams{Limit: 2}, 4,
			[]string{"?limit=2", "?limit=2&offset=2", "?limit=2&offset=4"}},
		"no total": {5, ``, appapi.ListContactsParams{Limit: 2}, 5,
			[]string{"?limit=2", "?limit=2&offset=2", "?limit=2&offset=4", "?limit=2&offset=5"}},
		"no total at a bound": {4, `,"total":null`, appapi.ListContactsParams{Limit: 2}, 4,
			[]string{"?limit=2", "?limit=2&offset=2", "?limit=2&offset=4"}},
		"from an offset": {5, `,"total":5`, appapi.ListContactsParams{Limit: 2, Offset: 3}, 2,
			[]string{"?limit=2&offset=3", "?limit=2&offset=5"}},
		"beyond the end":       {5, `,"total":5`, appapi.ListContactsParams{Offset: 9}, 0, []string{"?offset=9"}},
		"pages of the default": {60, ``, appapi.ListContactsParams{}, 60, []string{"", "?offset=50", "?offset=60"}},
		"a smaller bound": {60, ``, appapi.ListContactsParams{Limit: 100}, 60,
			[]string{"?limit=100", "?limit=100&offset=50", "?limit=100&offset=60"}},
		"with both": {60, `,"total":60`, appapi.ListContactsParams{Limit: 100}, 60,
			[]string{"?limit=100", "?limit=100&offset=50", "?limit=100&offset=60"}},
		"a total of the page": {6, `,"total":2`, appapi.ListContactsParams{Limit: 2}, 6,
			[]string{"?limit=2", "?limit=2&offset=2", "?limit=2&offset=4", "?limit=2&offset=6"}},
		"a total of zero": {3, `,"total":0`, appapi.ListContactsParams{Limit: 2}, 3,
			[]string{"?limit=2", "?limit=2&offset=2", "?limit=2&offset=3"}},
		"a total of one": {60, `,"total":1`, appapi.ListContactsParams{Limit: 100}, 60,
			[]string{"?limit=100", "?limit=100&offset=50", "?limit=100&offset=60"}},
		"a total that lies": {3, `,"total":99`, appapi.ListContactsParams{Limit: 2}, 3,
			[]string{"?limit=2", "?limit=2&offset=2", "?limit=2&offset=3"}},
		"a total below zero": {3, `,"total":-1`, appapi.ListContactsParams{Limit: 2}, 3,
			[]string{"?limit=2", "?limit=2&offset=2", "?limit=2&offset=3"}},
	} {
		t.Run(name, func(t *testing.T) {
			names, asked := walk(c.entries, c.total, c.params)
			assert.Len(t, names, c.found)
			assert.Equal(t, c.asked, asked)
		})
	}
}

// The description states no offset for the lists of invoices and contracts. A service that does not know it returns the
// whole list each time.
func TestListWithoutPagesIsReadOnce(t *testing.T) {
	for name, more := range map[string]string{"without a total": "", "with one": `,"total":2`} {
		first := invoiceJSON
		second := strings.Replace(invoiceJSON, id1, id2, 1)
		server, app := serve(t, responding(200, `{"items":[`+first+`,`+second+`]`+more+`}`))
		var walked []string
		for invoice, err := range app.Invoices.All(t.Context(), appapi.ListInvoicesParams{}) {
			require.NoError(t, err)
			walked = append(walked, invoice.ID)
		}
		assert.Equal(t, []string{id1, id2}, walked, name)
		assert.LessOrEqual(t, len(server.requests()), 2, name)
	}
}

// TestPagingThatDoesNotAdvanceIsAnError: a service that counts more entries than it gives has others, and giving the
// same again is not giving them.
func TestPagingThatDoesNotAdvanceIsAnError(t *testing.T) {
	server, app := serve(t, responding(200, `{"items":[`+invoiceJSON+`],"total":3}`))
	var walked []string
	var last error
	for invoice, err := range app.Invoices.All(t.Context(), appapi.ListInvoicesParams{}) {
		if last = err; err == nil {
			walked = append(walked, invoice.ID)
		}
	}
	stuck, is := errors.AsType[*errors.UnexpectedResponse](last)
	require.True(t, is, "%v", last)
	assert.Equal(t, "ListInvoices", stuck.Operation)
	assert.Empty(t, stuck.IdempotencyKey)
	assert.Equal(t, []string{id1}, walked, "no entry twice")
	assert.Len(t, server.requests(), 2)
}

// TestPagingIsBounded: every list here goes on for ever, and no total is believed that would end it.
func TestPagingIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		response func(offset, limit int) (ids []int, total string)
		limit    int
		found    []string
		failure  bool
	}{
		"a page for every offset": {
			func(_, _ int) ([]int, string) { return []int{1, 2}, "" }, 0, []string{"1", "2"}, false,
		},
		"as much as was asked for, for every offset": { // what is beyond the limit is never given
			func(_, limit int) ([]int, string) {
				return []int{1, 2, 3, 4, 5, 6}[:limit], ""
			}, 2, []string{"1", "2"}, true,
		},
		"the last page beyond the end": {
			func(offset, _ int) ([]int, string) {
				return [][]int{{1, 2}, {3, 4}}[min(offset/2, 1)], `,"total":2`
			}, 2, []string{"1", "2", "3", "4"}, false,
		},
		"the last page beyond the end, of more": {
			func(offset, _ int) ([]int, string) {
				return [][]int{{1, 2}, {3, 4}}[min(offset/2, 1)], `,"total":9`
			}, 2, []string{"1", "2", "3", "4"}, true,
		},
		"a circle": {
			func(offset, _ int) ([]int, string) {
				return [][]int{{1, 2}, {3, 4}, {5, 6}}[offset/2%3], ""
			}, 2, []string{"1", "2", "3", "4", "5", "6"}, true,
		},
		"a circle that the total knows": {
			func(offset, _ int) ([]int, string) {
				return [][]int{{1, 2}, {3, 4}, {5, 6}}[offset/2%3], `,"total":6`
			}, 2, []string{"1", "2", "3", "4", "5", "6"}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, app := serve(t, func(w http.ResponseWriter, r *http.Request) {
				offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
				limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
				ids, total := c.response(offset, limit)
				var items []string
				for _, id := range ids {
					items = append(items, fmt.Sprintf(`{"id":"%d","createdAt":"2026-01-02T03:04:05Z"}`, id))
				}
				fmt.Fprintf(w, `{"items":[%s]%s}`, strings.Join(items, ","), total)
			})
			var walked []string
			var failure error
			for contact, err := range app.Contacts.All(t.Context(), appapi.ListContactsParams{Limit: c.limit}) {
				if failure = err; err == nil {
					walked = append(walked, contact.ID)
				}
			}
			assert.Equal(t, c.found, walked, "each entry once")
			if !c.failure {
				assert.NoError(t, failure)
				return
			}
			stuck, is := errors.AsType[*errors.UnexpectedResponse](failure)
			require.True(t, is, "%v", failure)
			assert.Equal(t, "ListContacts", stuck.Operation)
		})
	}
}

// TestPagingFromAnOffsetThatDoesNotAdvance either, where the service gives what was asked for first at every offset.
func TestPagingFromAnOffsetThatDoesNotAdvance(t *testing.T) {
	server, app := serve(t,
		responding(200,
			`{"items":[{"id":"1","createdAt":"2026-01-02T03:04:05Z"},{"id":"2","createdAt":"2026-01-02T03:04:05Z"}]}`))
	entries, failures := counted(app.Contacts.All(t.Context(), appapi.ListContactsParams{Offset: 6, Limit: 2}))
	assert.Equal(t, 2, entries)
	require.Len(t, failures, 1)
	_, stuck := errors.AsType[*errors.UnexpectedResponse](failures[0])
	assert.True(t, stuck, "%v", failures[0])
	assert.Len(t, server.requests(), 2)
}

// TestPagingLoopIsDetectedWhateverAnEntryHolds: members of no stated order are the same in any.
func TestPagingLoopIsDetectedWhateverAnEntryHolds(t *testing.T) {
	server, app := serve(t, func(w http.ResponseWriter, r *http.Request) {
		offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		fields := fmt.Sprintf(`"turn":%d,"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9`, offset%2)
		_, _ = io.WriteString(w, `{"items":[`+strings.Replace(contractJSON, `"jobTitle":"Designer"`, fields, 1)+`]}`)
	})
	entries, failures := counted(app.Contracts.All(t.Context(), appapi.ListContractsParams{}))
	assert.Equal(t, 2, entries)
	assert.Len(t, failures, 1)
	assert.Len(t, server.requests(), 3)
}

// TestPagingCountsUnreadEntries: an entry that is left out has its place in the list, and a page of them is not the
// end.
func TestPagingCountsUnreadEntries(t *testing.T) {
	pages := func(limit int, entries ...string) (*service, *appapi.Client) {
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
			rest := entries[min(offset, len(entries)):]
			fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(rest[:min(limit, len(rest))], ","))
		})
	}
	entry := func(id int) string { return fmt.Sprintf(`{"id":"%d","createdAt":"2026-01-02T03:04:05Z"}`, id) }
	many := func(n int, entry string) []string { return slices.Repeat([]string{entry}, n) }
	lacking := `{"id":"0","account":7,"createdAt":7}` // is read, and named more than once
	for name, c := range map[string]struct {
		limit    int
		entries  []string
		found    []string
		requests int
	}{
		"the first": {2, []string{`"bad"`, entry(2), entry(3), entry(4), entry(5), entry(6)},
			[]string{"2", "3", "4", "5", "6"}, 4},
		"the last": {2, []string{entry(1), entry(2), entry(3), `null`}, []string{"1", "2", "3"}, 3},
		"a page":   {2, []string{`"a"`, `"b"`, entry(3), entry(4)}, []string{"3", "4"}, 3},
		"a page in the middle": {2, []string{entry(1), entry(2), `null`, `null`, entry(5)}, []string{"1", "2", "5"},
			4},
		"two pages that are": {2, []string{`null`, `null`, `null`, `null`, entry(5)}, []string{"5"}, 4},
		"two pages apart": {2, []string{`7`, `7`, entry(3), entry(4), `7`, `7`, entry(7)},
			[]string{"3", "4", "7"}, 5},
		"all of them":           {2, []string{`7`, `7`, `7`}, nil, 3},
		"alike but for the bad": {2, []string{entry(1), `"a"`, entry(1), `"b"`, entry(1)}, []string{"1", "1", "1"}, 4},
		"more than are named": {
			1200, append(append(many(1100, lacking), many(60, `7`)...), append(many(40, entry(1)), entry(2))...),
			append(many(1100, "0"), append(many(40, "1"), "2")...), 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, app := pages(c.limit, c.entries...)
			var walked []string
			var response moneymovement.Response
			for contact, err := range app.Contacts.All(t.Context(), appapi.ListContactsParams{Limit: c.limit},
				moneymovement.CaptureResponse(&response)) {
				require.NoError(t, err)
				walked = append(walked, contact.ID)
			}
			assert.Equal(t, c.found, walked)
			assert.Len(t, server.requests(), c.requests)
			assert.JSONEq(t, `{"items":[]}`, string(response.Body), "the caller's own")
		})
	}
}

// TestPagingOverUnreadEntriesIsBounded: a page of which nothing is read, and that comes again and again, says
// nothing of an end.
func TestPagingOverUnreadEntriesIsBounded(t *testing.T) {
	for items, requests := range map[string]int{
		`[null]`: 21, `["a","b"]`: 21, `[7,{"id":"1","createdAt":"2026-01-02T03:04:05Z"}]`: 2,
	} { // the first, and twenty that are like it
		server, app := serve(t, responding(200, `{"items":`+items+`,"total":100}`))
		var failure error
		for _, err := range app.Contacts.All(t.Context(), appapi.ListContactsParams{}) {
			failure = err
		}
		stuck, is := errors.AsType[*errors.UnexpectedResponse](failure)
		require.True(t, is, "%v", failure)
		assert.Equal(t, "ListContacts", stuck.Operation)
		assert.Len(t, server.requests(), requests, items)
	}
}

// TestBareListIsPagedWithUnreadEntries: its entries are counted in whatever envelope they come.
func TestBareListIsPagedWithUnreadEntries(t *testing.T) {
	for _, envelope := range []string{`%s`, `{"data":%s}`, ` {"count":2,"results": %s }`} {
		pages := []string{`[7,{"id":"2","createdAt":"2026-01-02T03:04:05Z"}]`, `[]`}
		_, app := serve(t, func(w http.ResponseWriter, r *http.Request) {
			offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
			fmt.Fprintf(w, envelope, pages[offset/2])
		})
		var walked []string
		for contact, err := range app.Contacts.All(t.Context(), appapi.ListContactsParams{}) {
			require.NoError(t, err)
			walked = append(walked, contact.ID)
		}
		assert.Equal(t, []string{"2"}, walked, envelope)
	}
}

func TestPagingEndsAtTheFirstErrorOrBreak(t *testing.T) {
	pages := 0
	_, app := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if pages++; pages > 1 {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":{"code":"not_found","message":"gone"}}`)
			return
		}
		_, _ = io.WriteString(w, listOf(invoiceJSON)[:len(listOf(invoiceJSON))-2]+`9}`)
	})
	var walked []string
	for invoice, err := range app.Invoices.All(t.Context(), appapi.ListInvoicesParams{}) {
		if _, gone := errors.AsType[*errors.NotFound](err); gone {
			walked = append(walked, "not found")
			continue
		}
		require.NoError(t, err)
		walked = append(walked, invoice.ID)
	}
	assert.Equal(t, []string{id1, "not found"}, walked)

	pages = 0
	for _, err := range app.Invoices.All(t.Context(), appapi.ListInvoicesParams{}) {
		require.NoError(t, err)
		break
	}
	assert.Equal(t, 1, pages)
}

func TestEachListCanBePaged(t *testing.T) {
	item := `{"id":"` + id1 +
		`","clientId":"a","contractorId":"b","type":"service","status":"sent","amount":"1","currency":"USD",` +
		`"createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z"}`
	server, app := serve(t, responding(200, listOf(item)))
	ctx := t.Context()
	for c, err := range app.Contracts.All(ctx, appapi.ListContractsParams{Offset: 1}) {
		assert.NoError(t, err)
		assert.Equal(t, id1, c.ID)
	}
	for x, err := range app.Transactions.All(ctx, appapi.ListTransactionsParams{Offset: 2, Status: "s"}) {
		assert.NoError(t, err)
		assert.Equal(t, id1, x.ID)
	}
	for x, err := range app.Invoices.All(ctx, appapi.ListInvoicesParams{Offset: 4}) {
		assert.NoError(t, err)
		assert.Equal(t, id1, x.ID)
	}
	server.respond = responding(200, listOf(strings.Replace(item, `"amount":"1"`, `"amount":1`, 1)))
	for x, err := range app.Transfers.All(ctx, appapi.ListTransfersParams{Offset: 3}) {
		assert.NoError(t, err)
		assert.Equal(t, id1, x.ID)
	}
	var asked []string
	for _, request := range server.requests() {
		asked = append(asked, request.what)
		assert.Empty(t, request.header.Values("X-Service-Account"))
	}
	assert.Equal(t, []string{
		"GET /documents/contracts?offset=1", "GET /documents/contracts?offset=2",
		"GET /transactions?offset=2&status=s", "GET /transactions?offset=3&status=s",
		"GET /documents/contracts/invoices?offset=4", "GET /documents/contracts/invoices?offset=5",
		"GET /apps/transfers?offset=3", "GET /apps/transfers?offset=4",
	}, asked)
}

// counted walks a list: how many entries came, and which errors.
func counted[T any](all iter.Seq2[T, error]) (entries int, failures []error) {
	for _, err := range all {
		if err != nil {
			failures = append(failures, err)
		} else {
			entries++
		}
	}
	return entries, failures
}

// A list that cannot be read is an error, and never a list that ends early: who takes it for whole would pay what is
// paid already.
func TestPagingReturnsTheErrorOfAPage(t *testing.T) {
	for name, walk := range map[string]func(context.Context, *appapi.Client) (int, []error){
		"contacts": func(ctx context.Context, app *appapi.Client) (int, []error) {
			return counted(app.Contacts.All(ctx, appapi.ListContactsParams{}))
		},
		"contracts": func(ctx context.Context, app *appapi.Client) (int, []error) {
			return counted(app.Contracts.All(ctx, appapi.ListContractsParams{}))
		},
		"invoices": func(ctx context.Context, app *appapi.Client) (int, []error) {
			return counted(app.Invoices.All(ctx, appapi.ListInvoicesParams{}))
		},
		"transactions": func(ctx context.Context, app *appapi.Client) (int, []error) {
			return counted(app.Transactions.All(ctx, appapi.ListTransactionsParams{}))
		},
		"transfers": func(ctx context.Context, app *appapi.Client) (int, []error) {
			return counted(app.Transfers.All(ctx, appapi.ListTransfersParams{}))
		},
	} {
		for good := range 2 { // pages before the one that fails
			left := good
			_, app := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if left--; left >= 0 {
					_, _ = io.WriteString(w, `{"items":[{"id":"1"}],"total":9}`)
					return
				}
				responding(http.StatusForbidden, `{"error":{"code":"forbidden","message":"no"}}`)(w, nil)
			})
			entries, failures := walk(t.Context(), app)
			assert.Equal(t, good, entries, name)
			require.Len(t, failures, 1, name)
			_, is := errors.AsType[*errors.Forbidden](failures[0])
			assert.True(t, is, "%s: %v", name, failures[0])
		}
	}
}

func TestTemplatesThatCannotBeReadAreAnError(t *testing.T) {
	_, app := serve(t, responding(http.StatusForbidden, `{"error":{"code":"forbidden","message":"no"}}`))
	templates, err := app.Contracts.Templates(t.Context())
	_, is := errors.AsType[*errors.Forbidden](err)
	assert.True(t, is, "%v", err)
	assert.Nil(t, templates)
}

// TestAPaymentMethodThatIsNullIsLeftOutAndNamed: one of a variant that is not known is kept, and null is of none.
func TestAPaymentMethodThatIsNullIsLeftOutAndNamed(t *testing.T) {
	const method = `{"accountType":"sepa","ibanNumber":"DE89370400440532013000"}`
	for methods, want := range map[string]struct {
		read    int
		pointer []string
	}{
		`[null]`:                          {0, []string{"/paymentMethods/0 is null"}},
		`[null,` + method + `,null]`:      {1, []string{"/paymentMethods/0 is null", "/paymentMethods/2 is null"}},
		`[` + method + `,` + method + `]`: {2, nil},
		`null`:                            {0, nil},
	} {
		_, app := serve(t, responding(200, strings.Replace(invoiceJSON, `[`+method+`]`, methods, 1)))
		var response moneymovement.Response
		invoice, err := app.Invoices.Get(t.Context(), id1, moneymovement.CaptureResponse(&response))
		require.NoError(t, err, methods)
		var named []string
		for _, unread := range response.Unread {
			named = append(named, unread.Pointer+" "+unread.Problem)
		}
		assert.Equal(t, want.pointer, named, methods)
		require.Len(t, invoice.PaymentMethods, want.read, methods)
		for _, read := range invoice.PaymentMethods {
			assert.IsType(t, model.SEPAPaymentMethod{}, read.Variant(), methods)
		}
	}
}

// TestAnInvoiceOfABatchKeepsItsPlace, whatever of the others can be read.
func TestAnInvoiceOfABatchKeepsItsPlace(t *testing.T) {
	batch := appapi.InvoiceBatch{{ContractID: id1}, {ContractID: id2}, {ContractID: id1}}
	for answered, want := range map[string][]string{
		`{"items":[7,` + invoiceJSON + `,null]}`:                  {"", id1, ""},
		`[` + invoiceJSON + `,"` + id2 + `",` + invoiceJSON + `]`: {id1, "", id1},
		`{"items":["a","b","c"]}`:                                 {"", "", ""},
		`{"items":[` + invoiceJSON + `,{"id":"` + id2 + `"}]}`:    {id1, id2},
		`{"items":[]}`: nil,
	} {
		_, app := serve(t, responding(201, answered))
		var response moneymovement.Response
		issued, err := app.Invoices.CreateBatch(t.Context(), batch, moneymovement.CaptureResponse(&response))
		require.NoError(t, err, answered)
		var ids []string
		for _, invoice := range issued {
			ids = append(ids, invoice.ID)
		}
		assert.Equal(t, want, ids, answered)
		assert.Equal(t, answered, string(response.Body))
	}
}

// TestBatchWithoutAListIsInDoubt: it may have issued all of them.
func TestBatchWithoutAListIsInDoubt(t *testing.T) {
	for _, body := range []string{``, `{"ok":true}`} {
		server, app := serve(t, responding(201, body))
		_, err := app.Invoices.CreateBatch(t.Context(), appapi.InvoiceBatch{{ContractID: id1}})
		_, unknown := errors.AsType[*errors.InDoubt](err)
		assert.True(t, unknown, "%v", err)
		assert.Len(t, server.requests(), 1)
	}
}

// TestAbsentVerdictIsNotFalse: no field of the check of bank details is stated.
func TestAbsentVerdictIsNotFalse(t *testing.T) {
	for body, want := range map[string]*bool{
		``: nil, `{"ok":true}`: nil, `{}`: nil, `{"valid":null}`: nil, `{"valid":{},"errors":[]}`: nil,
		`{"valid":false}`: pointer(false), `{"valid":true}`: pointer(true), `{"valid":"true"}`: pointer(true),
	} {
		_, app := serve(t, responding(200, body))
		check, err := app.Contacts.ValidateBank(t.Context(), appapi.BankDetails{IBAN: "DE89370400440532013000"})
		require.NoError(t, err, body)
		assert.Equal(t, want, check.Valid, body)
	}
}
