package sandbox_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

const invoices = "/documents/contracts/invoices"

// expect is must for who looks at the body only.
func (b bearer) expect(status int, method, path string, body any) object {
	b.t.Helper()
	return b.must(status, method, path, body).body
}

// itemsOf are the entries of a list.
func itemsOf(list object) []object { return reply{body: list}.items() }

// newInvoice is a body that the host takes: two days at 150.25 EUR.
func newInvoice() object {
	return object{
		"currency": "EUR", "clientEmail": "client@example.com", "clientDisplayName": "Client Ltd",
		"clientAddress": object{"streetAddress": "1 High St", "city": "Leeds", "country": "GB"},
		"items":         []any{object{"name": "Design", "quantity": 2, "price": "150.25"}},
		"invoicePrefix": "WEB", "dueDate": "2030-01-31", "onchain": true,
	}
}

func TestInvoiceIsCreatedListedAndRead(t *testing.T) {
	w := newWorld(t)
	me := w.app()
	created := me.expect(http.StatusCreated, "POST", invoices, newInvoice())
	assert.Equal(t, "300.5", created.text("amount"))
	assert.Equal(t, "sent", created.text("status"))
	assert.Equal(t, "WEB-0001", created.text("invoiceNumber"))
	assert.Equal(t, w.email, created.text("contractor", "email"))
	assert.Equal(t, "Leeds", created.text("client", "address", "city"))
	assert.Equal(t, "2030-01-31", created.text("dueDate"))
	assert.NotContains(t, created, "transaction")
	assert.Equal(t, created, me.expect(http.StatusOK, "GET", invoices+"/"+created.text("id"), nil))

	second := me.expect(http.StatusCreated, "POST", invoices, newInvoice())
	list := me.expect(http.StatusOK, "GET", invoices, nil)
	assert.Equal(t, []object{second, created}, itemsOf(list), "newest first")
	assert.InDelta(t, 2, list.at("total"), 0)
	page := me.expect(http.StatusOK, "GET", invoices+"?limit=1&offset=1", nil)
	assert.Equal(t, []object{created}, itemsOf(page))

	refused(t, http.StatusNotFound, "not_found", w.appWith(sandbox.AppKeyRegistration{Email: "eve@example.com"}).
		call("GET", invoices+"/"+created.text("id"), nil))
	assert.Equal(t, created, w.appWith(sandbox.AppKeyRegistration{Email: "client@example.com"}).
		expect(http.StatusOK, "GET", invoices+"/"+created.text("id"), nil))
}

// The description states no bound for a line. A line may cost nothing, and an invoice may have only such lines.
func TestInvoiceLinesWithZeroAmount(t *testing.T) {
	me := newWorld(t).app()
	me.fund(1)
	free := object{"name": "Trial", "quantity": 1, "price": "0"}
	for want, items := range map[string][]any{
		"300.5": {object{"name": "Design", "quantity": 2, "price": "150.25"}, free},
		"0":     {free, object{"name": "None", "quantity": 0, "price": "1"}},
	} {
		body := newInvoice()
		body["items"] = items
		created := me.expect(http.StatusCreated, "POST", invoices, body)
		assert.Equal(t, want, created.text("amount"))
		assert.Equal(t, created, me.expect(http.StatusOK, "GET", invoices+"/"+created.text("id"), nil))
	}
}

func TestInvalidInvoices(t *testing.T) {
	me := newWorld(t).app()
	for name, c := range map[string]struct {
		change object
		want   map[string]string
	}{
		"no client": {object{"clientEmail": nil}, map[string]string{"clientEmail": "string_type"}},
		"no lines":  {object{"items": []any{}}, map[string]string{"items": "too_short"}},
		"currency":  {object{"currency": "XYZ"}, map[string]string{"currency": "enum"}},
		"too fine": {object{"currency": "USDC",
			"items": []any{object{"name": "x", "quantity": 1, "price": "0.0000001"}}},
			map[string]string{"items.0.price": "amount_precision"}},
		"cents of yen": {object{"currency": "JPY"}, map[string]string{"items.0.price": "amount_precision"}},
		"less than nothing": {object{"items": []any{object{"name": "x", "quantity": -1, "price": "-1"}}},
			map[string]string{"items.0.quantity": "greater_than_equal", "items.0.price": "greater_than_equal"}},
	} {
		t.Run(name, func(t *testing.T) {
			body := newInvoice()
			for field, value := range c.change {
				body[field] = value
			}
			got := me.call("POST", invoices, body)
			refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
			assert.Equal(t, c.want, got.fields())
		})
	}
	assert.Empty(t, itemsOf(me.expect(http.StatusOK, "GET", invoices, nil)))

	finest := newInvoice()
	finest["currency"], finest["items"] = "USDC", []any{object{"name": "x", "quantity": 2, "price": "0.000001"}}
	assert.Equal(t, "0.000002", me.expect(http.StatusCreated, "POST", invoices, finest).text("amount"))
}

func TestInvoicePaidOffline(t *testing.T) {
	w := newWorld(t)
	me := w.app()
	path := invoices + "/" + me.expect(http.StatusCreated, "POST", invoices, newInvoice()).text("id")
	before := w.host.Now()
	paid := me.expect(http.StatusOK, "PUT", path, object{"status": "paid"})
	assert.Equal(t, "paid", paid.text("status"))
	assert.NotContains(t, paid, "transaction", "no linked transaction")
	assert.NotContains(t, paid, "onchainTransactionId")
	at, err := time.Parse(time.RFC3339, paid.text("paidAt"))
	require.NoError(t, err)
	assert.WithinDuration(t, before, at, time.Minute, "now when not given")

	backdated := me.expect(http.StatusOK, "PUT", path,
		object{"status": "paid", "paidAt": "2020-02-29T10:00:00Z", "onchainTransactionId": nil})
	assert.Equal(t, "2020-02-29T10:00:00Z", backdated.text("paidAt"))
	future := me.call("PUT", path, object{"status": "paid", "paidAt": w.host.Now().Add(time.Hour)})
	assert.Equal(t, map[string]string{"paidAt": "less_than_equal"}, future.fields())
	assert.Equal(t, map[string]string{"status": "enum"}, me.call("PUT", path, object{"status": "lost"}).fields())
}

// A caller's clock has more digits than the host's. The caller's present time must not count as the future.
func TestInvoicePaidAtDefaultsToNow(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 999_999, time.UTC)
	me := newWorld(t, sandbox.WithClock(func() time.Time { return now })).app()
	path := invoices + "/" + me.expect(http.StatusCreated, "POST", invoices, newInvoice()).text("id")
	paid := me.expect(http.StatusOK, "PUT", path, object{"status": "paid", "paidAt": now})
	assert.Equal(t, "2026-05-01T12:00:00.000999999Z", paid.text("paidAt"))
	future := me.call("PUT", path, object{"status": "paid", "paidAt": now.Add(time.Millisecond)})
	assert.Equal(t, map[string]string{"paidAt": "less_than_equal"}, future.fields())
}

func TestTransactionReferenceIsUniqueAcrossInvoices(t *testing.T) {
	me := newWorld(t).app()
	one := invoices + "/" + me.expect(http.StatusCreated, "POST", invoices, newInvoice()).text("id")
	two := invoices + "/" + me.expect(http.StatusCreated, "POST", invoices, newInvoice()).text("id")
	linked := me.expect(http.StatusOK, "PUT", one, object{"status": "paid", "onchainTransactionId": "any string #1"})
	assert.Equal(t, "any string #1", linked.text("onchainTransactionId"))
	assert.Equal(t, "any string #1", linked.text("transaction", "onchainTransactionId"))
	refused(t, http.StatusConflict, "conflict",
		me.call("PUT", two, object{"status": "paid", "onchainTransactionId": "any string #1"}))
	for _, status := range []string{"draft", "sent", "cancelled", "client_paid", "client_declined"} {
		assert.Equal(t, status, me.expect(http.StatusOK, "PUT", two, object{"status": status}).text("status"))
	}
}

// An absent reference says nothing about the payment; null says that there is no linked transaction.
func TestPaidWithNullReferenceUnlinksTransaction(t *testing.T) {
	w := newWorld(t)
	me := w.app()
	id := me.expect(http.StatusCreated, "POST", invoices, newInvoice()).text("id")
	for name, put := range map[string]func(body object) object{
		"app API": func(body object) object { return me.expect(http.StatusOK, "PUT", invoices+"/"+id, body) },
		"reference": func(body object) object {
			return w.reference().expect(http.StatusOK, "PUT", "/api/v1"+invoices+"/"+id, body)
		},
		"second reference path": func(body object) object {
			return w.reference().expect(http.StatusOK, "PUT", "/api/v1/invoices"+invoices+"/"+id, body)
		},
	} {
		t.Run(name, func(t *testing.T) {
			linked := put(object{"status": "paid", "onchainTransactionId": "wire 42", "paidAt": "2020-02-29T10:00:00Z"})
			assert.Equal(t, "wire 42", linked.text("transaction", "onchainTransactionId"))
			kept := put(object{"status": "paid"})
			assert.Equal(t, "wire 42", kept.text("onchainTransactionId"))

			unlinked := put(object{"status": "paid", "onchainTransactionId": nil})
			assert.Equal(t, "paid", unlinked.text("status"))
			assert.NotContains(t, unlinked, "onchainTransactionId")
			assert.NotContains(t, unlinked, "transaction")
			assert.Equal(t, "2020-02-29T10:00:00Z", unlinked.text("paidAt"), "the time of payment stays")

			other := invoices + "/" + me.expect(http.StatusCreated, "POST", invoices, newInvoice()).text("id")
			me.expect(http.StatusOK, "PUT", other, object{"status": "paid", "onchainTransactionId": "wire 42"})
			me.expect(http.StatusOK, "PUT", other, object{"status": "paid", "onchainTransactionId": nil})
		})
	}
}

func TestTransferCannotBeUnlinkedFromInvoice(t *testing.T) {
	w := newWorld(t)
	client, contractor := w.app(), w.appWith(sandbox.AppKeyRegistration{Email: "contractor@example.com"})
	client.fund(1)
	id := contractor.invoice("USD", "1")
	hash := client.must(http.StatusOK, "POST", "/apps/transfer", object{"invoiceId": id}).body.text("txHash")
	refused(t, http.StatusConflict, "conflict",
		contractor.call("PUT", invoices+"/"+id, object{"status": "paid", "onchainTransactionId": nil}))
	assert.Equal(t, hash, contractor.expect(http.StatusOK, "GET", invoices+"/"+id, nil).text("transaction", "txHash"))
}

// The client may name the transaction before the contractor confirms the payment.
func TestClientPaidInvoiceTakesReference(t *testing.T) {
	me := newWorld(t).app()
	one := invoices + "/" + me.expect(http.StatusCreated, "POST", invoices, newInvoice()).text("id")
	two := invoices + "/" + me.expect(http.StatusCreated, "POST", invoices, newInvoice()).text("id")
	claimed := me.expect(http.StatusOK, "PUT", one, object{"status": "client_paid", "onchainTransactionId": "wire 42"})
	assert.Equal(t, "client_paid", claimed.text("status"))
	assert.Equal(t, "wire 42", claimed.text("onchainTransactionId"))
	assert.Equal(t, "wire 42", claimed.text("transaction", "onchainTransactionId"))
	assert.NotContains(t, claimed, "paidAt", "nobody has said when")
	refused(t, http.StatusConflict, "conflict",
		me.call("PUT", two, object{"status": "client_paid", "onchainTransactionId": "wire 42"}))

	dated := me.expect(http.StatusOK, "PUT", one, object{"status": "client_paid", "paidAt": "2020-02-29T10:00:00Z"})
	assert.Equal(t, "wire 42", dated.text("onchainTransactionId"), "what is absent stays")
	assert.Equal(t, "2020-02-29T10:00:00Z", dated.text("paidAt"))
	unlinked := me.expect(http.StatusOK, "PUT", one, object{"status": "client_paid", "onchainTransactionId": nil})
	assert.NotContains(t, unlinked, "transaction")

	me.expect(http.StatusOK, "PUT", one, object{"status": "client_paid", "onchainTransactionId": "wire 43"})
	paid := me.expect(http.StatusOK, "PUT", one, object{"status": "paid", "onchainTransactionId": "wire 43"})
	assert.Equal(t, "wire 43", paid.text("transaction", "onchainTransactionId"))
	assert.NotEmpty(t, paid.text("paidAt"))
	me.expect(http.StatusOK, "PUT", one, object{"status": "client_paid", "onchainTransactionId": "wire 44"})
	offline := me.expect(http.StatusOK, "PUT", one, object{"status": "paid"})
	assert.NotContains(t, offline, "transaction", "marked paid with no reference is paid offline")
}

func TestInvoiceUpdateOnBothReferencePaths(t *testing.T) {
	w := newWorld(t)
	id := w.app().expect(http.StatusCreated, "POST", invoices, newInvoice()).text("id")
	reference := w.reference()
	for path, status := range map[string]string{
		"/api/v1/documents/contracts/invoices/" + id:          "client_paid",
		"/api/v1/invoices/documents/contracts/invoices/" + id: "client_declined",
	} {
		assert.Equal(t, status, reference.expect(http.StatusOK, "PUT", path, object{"status": status}).text("status"))
		got := reference.call("PUT", path, object{"status": "lost"})
		assert.Equal(t, http.StatusUnprocessableEntity, got.status)
		assert.Equal(t, map[string]string{"body.status": "enum"}, got.details())
		future := reference.call("PUT", path, object{"status": "paid", "paidAt": "2999-01-01T00:00:00Z"})
		assert.Equal(t, map[string]string{"body.paidAt": "less_than_equal"}, future.details(), "%s", future.raw)
	}
	refused(t, http.StatusNotFound, "not_found",
		reference.call("PUT", "/api/v1/documents/contracts/invoices/00000000-0000-4000-8000-000000000000",
			object{"status": "sent"}))
}

func TestUploadedDocumentInvoice(t *testing.T) {
	w := newWorld(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.MaxUpload = 1000 }))
	me := w.app()
	upload := func(size int) reply {
		return me.call("POST", "/documents/upload", object{
			"base64": base64.StdEncoding.EncodeToString(make([]byte, size)), "type": "invoice", "context": "invoice",
			"name": "March", "originName": "m.pdf",
		})
	}
	stored := upload(1000)
	require.Equal(t, http.StatusCreated, stored.status, "%s", stored.raw)
	refused(t, http.StatusRequestEntityTooLarge, "payload_too_large", upload(1001))
	assert.Equal(t, map[string]string{"base64": "string_too_short"}, upload(0).fields())
	assert.Equal(t, map[string]string{"base64": "bytes_invalid_encoding"},
		me.call("POST", "/documents/upload", object{"base64": "_-"}).fields())

	for _, kind := range []any{"invoice", "contract", nil} {
		for _, used := range []any{"invoice", "contract", nil} {
			body := object{"base64": "AAAA"}
			if kind != nil {
				body["type"] = kind
			}
			if used != nil {
				body["context"] = used
			}
			assert.Equal(t, http.StatusCreated, me.call("POST", "/documents/upload", body).status,
				"type %v in context %v", kind, used)
		}
	}

	body := object{"documentId": stored.body.text("id"), "amount": "7.50", "currency": "GBP",
		"clientEmail": "client@example.com"}
	created := me.expect(http.StatusCreated, "POST", invoices+"/uploaded", body)
	assert.Equal(t, "7.5", created.text("amount"))
	documents, _ := created.at("documents").([]any)
	require.Len(t, documents, 1)
	assert.Equal(t, map[string]any(stored.body), documents[0])
	body["documentId"] = "00000000-0000-4000-8000-000000000000"
	assert.Equal(t, map[string]string{"documentId": "not_found"}, me.call("POST", invoices+"/uploaded", body).fields())
}

func TestUploadOfTenMebibytes(t *testing.T) {
	me := newWorld(t).app()
	body := func(size int) object {
		return object{"base64": base64.StdEncoding.EncodeToString(make([]byte, size))}
	}
	me.expect(http.StatusCreated, "POST", "/documents/upload", body(10<<20))
	refused(t, http.StatusRequestEntityTooLarge, "payload_too_large",
		me.call("POST", "/documents/upload", body(10<<20+1)))
	refused(t, http.StatusRequestEntityTooLarge, "payload_too_large",
		me.call("POST", "/documents/upload", body(12<<20)))
}

// A cancelled invoice is never paid, and a paid one is never cancelled, also if both are requested at once.
func TestInvoiceIsNeverPaidAndCancelled(t *testing.T) {
	w := newWorld(t)
	client := w.app()
	client.fund(1)
	for range 100 {
		invoice := client.invoice("USD", "0.01")
		var paid, cancelled reply
		var group sync.WaitGroup
		group.Go(func() { paid = client.call("POST", "/apps/transfer", object{"invoiceId": invoice}) })
		group.Go(func() {
			cancelled = client.call("PUT", "/documents/contracts/invoices/"+invoice, object{"status": "cancelled"})
		})
		group.Wait()
		outcome := fmt.Sprint(paid.status, " ", cancelled.status)
		assert.Contains(t, []string{"200 409", "409 200"}, outcome, "%s %s", paid.raw, cancelled.raw)
	}
}

const contracts = "/documents/contracts"

func newContract() object {
	return object{
		"contractorEmail": "ada@example.com", "type": "contractor", "period": "monthly", "label": "Website",
		"fields": object{"amount": "2500", "currency": "EUR", "jobTitle": "Engineer",
			"scopeDescription": "Build it."},
		"priorityMethods": []any{"sepa", "crypto"}, "requireSignature": true,
	}
}

// activeContract is a contract that both sides have accepted.
func (b bearer) activeContract() string {
	b.t.Helper()
	id := b.expect(http.StatusCreated, "POST", contracts, newContract()).text("id")
	b.host.Advance(time.Minute)
	require.Equal(b.t, "active", b.expect(http.StatusOK, "POST", contracts+"/"+id+"/approve", nil).text("status"))
	return id
}

func TestContractStatusTransitions(t *testing.T) {
	w := newWorld(t)
	me := w.app()
	created := me.expect(http.StatusCreated, "POST", contracts, newContract())
	path := contracts + "/" + created.text("id")
	assert.Equal(t, "pending_approval_by_contractor", created.text("status"))
	assert.Equal(t, false, created.at("contractor", "isBusiness"))
	assert.Equal(t, me.expect(http.StatusOK, "GET", "/user", nil).text("id"), created.text("clientId"))
	refused(t, http.StatusConflict, "conflict", me.call("POST", path+"/pause", nil))

	w.host.Advance(time.Minute)
	assert.Equal(t, "pending_approval_by_client", me.expect(http.StatusOK, "GET", path, nil).text("status"))
	assert.Equal(t, "active", me.expect(http.StatusOK, "POST", path+"/approve", nil).text("status"))
	assert.Equal(t, "paused", me.expect(http.StatusOK, "POST", path+"/pause", nil).text("status"))
	refused(t, http.StatusConflict, "conflict", me.call("POST", path+"/create-invoice", object{}))
	assert.Equal(t, "active", me.expect(http.StatusOK, "POST", path+"/approve", nil).text("status"))
	changed := me.expect(http.StatusOK, "PATCH", path,
		object{"expirationAt": w.host.Now().Add(time.Hour), "fields": object{"amount": "3000"}})
	assert.Equal(t, "3000", changed.text("amount"))
	assert.Equal(t, "Website", changed.text("label"))
	w.host.Advance(2 * time.Hour)
	completed := w.reference().expect(http.StatusOK, "GET", "/api/v1/invoices"+path, nil)
	assert.Equal(t, "completed", completed.text("status"))

	other := contracts + "/" + me.activeContract()
	require.Equal(t, http.StatusNoContent, me.call("DELETE", other, nil).status)
	assert.Equal(t, "cancelled", me.expect(http.StatusOK, "GET", other, nil).text("status"))
	assert.Len(t, itemsOf(me.expect(http.StatusOK, "GET", contracts, nil)), 2)
}

func TestContractorApprovesWithOwnKey(t *testing.T) {
	w := newWorld(t)
	me, ada := w.app(), w.appWith(sandbox.AppKeyRegistration{Email: "ada@example.com"})
	path := contracts + "/" + me.expect(http.StatusCreated, "POST", contracts, newContract()).text("id")
	assert.Equal(t, "pending_approval_by_client", ada.expect(http.StatusOK, "POST", path+"/approve", nil).text("status"))
	signed := me.expect(http.StatusOK, "POST", path+"/approve", nil)
	assert.Equal(t, "active", signed.text("status"))
	assert.NotEmpty(t, signed.text("contractorAcceptance", "acceptedAt"))
	refused(t, http.StatusNotFound, "not_found", w.appWith(sandbox.AppKeyRegistration{Email: "eve@example.com"}).
		call("GET", path, nil))
}

func TestPreviewsAndTemplates(t *testing.T) {
	me := newWorld(t).app()
	preview := me.expect(http.StatusOK, "GET", contracts+"/"+me.activeContract()+"/preview", nil)
	assert.Equal(t, "2500", preview.text("fields", "amount"))
	assert.Contains(t, preview.text("text"), "Build it.")
	assert.Len(t, itemsOf(me.expect(http.StatusOK, "GET", contracts+"/templates", nil)), 10)
}

func TestContractInvoicesPathIsNotAContractID(t *testing.T) {
	me := newWorld(t).app()
	assert.NotNil(t, me.expect(http.StatusOK, "GET", contracts+"/invoices", nil).at("items"))
	got := me.call("GET", contracts+"/invoices/preview", nil)
	assert.Equal(t, map[string]string{"invoice_id": "uuid_parsing"}, got.fields(), "%s", got.raw)
	got = me.call("PUT", contracts+"/invoices/payment_methods", object{"status": "paid"})
	assert.Equal(t, map[string]string{"invoice_id": "uuid_parsing"}, got.fields(), "%s", got.raw)
}

func TestContractInvoice(t *testing.T) {
	me := newWorld(t).app()
	id := me.activeContract()
	created := me.expect(http.StatusCreated, "POST", contracts+"/"+id+"/create-invoice", object{
		"periodStart": "2026-01-01", "invoicePrefix": "JAN", "contractorAddress": object{"city": "Rome"},
		"addItems": []any{object{"name": "Trip", "quantity": 0.5, "price": "99.99"}},
	})
	assert.Equal(t, "2550", created.text("amount"))
	assert.InDelta(t, 1, created.at("periodNumber"), 0)
	assert.Equal(t, id, created.text("contract", "id"))
	assert.Equal(t, true, created.at("contract", "isRecurring"))
	refused(t, http.StatusConflict, "conflict",
		me.call("POST", contracts+"/"+id+"/create-invoice", object{"periodStart": "2026-01-01"}))
	contract := me.expect(http.StatusOK, "GET", contracts+"/"+id, nil)
	assert.Equal(t, created.text("id"), contract.text("lastInvoice", "id"))

	me.expect(http.StatusOK, "PATCH", contracts+"/"+id, object{"period": ""})
	assert.Equal(t, false, me.expect(http.StatusOK, "GET", invoices+"/"+created.text("id"), nil).
		at("contract", "isRecurring"), "without a period")
}

func TestInvoiceBatchWithOneInvalidRowIssuesNothing(t *testing.T) {
	me := newWorld(t).app()
	one, two := me.activeContract(), me.activeContract()
	batch := invoices + "/batch_invoicing"
	got := me.call("POST", batch, []any{
		object{"contractId": one, "period": 1},
		object{"contractId": two, "period": 1, "items": []any{object{"name": "x", "quantity": 1, "price": "-1"}}},
	})
	refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
	assert.Equal(t, map[string]string{"1.items.0.price": "greater_than_equal"}, got.fields())
	got = me.call("POST", batch,
		[]any{object{"contractId": one}, object{"period": 1}, object{"contractId": one, "period": "x"}})
	assert.Equal(t, map[string]string{"1.contractId": "missing", "2.period": "int_type"}, got.fields(), "%s", got.raw)
	assert.Equal(t, http.StatusUnprocessableEntity, me.call("POST", batch, []any{}).status)
	refused(t, http.StatusBadRequest, "invalid_request", me.call("POST", batch, object{"contractId": one}))
	assert.Empty(t, itemsOf(me.expect(http.StatusOK, "GET", invoices, nil)))

	issued := itemsOf(me.expect(http.StatusCreated, "POST", batch, []any{
		object{"contractId": two, "period": 3, "memo": "March"}, object{"contractId": one},
	}))
	require.Len(t, issued, 2)
	assert.Equal(t, "March", issued[0].text("comment"))
	assert.Equal(t, two, issued[0].text("contract", "id"))
	assert.Len(t, itemsOf(me.expect(http.StatusOK, "GET", invoices, nil)), 2)
}

// text is what a PDF prints, one piece a line. Its fonts encode characters in UTF-16.
func (r reply) text(t testing.TB) string {
	t.Helper()
	require.Equal(t, http.StatusOK, r.status, "%s", r.raw)
	assert.Equal(t, "application/pdf", r.header.Get("Content-Type"))
	file, err := pdf.NewReader(bytes.NewReader(r.raw), int64(len(r.raw)))
	require.NoError(t, err)
	var text strings.Builder
	for i := range file.NumPage() {
		pdf.Interpret(file.Page(i+1).V.Key("Contents"), func(stack *pdf.Stack, operator string) {
			var last pdf.Value
			for stack.Len() > 0 {
				last = stack.Pop()
			}
			if operator != "Tj" {
				return
			}
			raw, units := last.RawString(), []uint16{}
			for j := 0; j+1 < len(raw); j += 2 {
				units = append(units, uint16(raw[j])<<8|uint16(raw[j+1]))
			}
			text.WriteString(string(utf16.Decode(units)) + "\n")
		})
	}
	return text.String()
}

// sepaInvoice is an invoice of a contract that is paid by SEPA, or by PIX.
func (b bearer) sepaInvoice() string {
	b.t.Helper()
	id := b.activeContract()
	b.expect(http.StatusOK, "PUT", contracts+"/"+id+"/payment_methods", object{"paymentMethods": []any{
		object{"accountType": "sepa", "ibanNumber": "DE89370400440532013000", "bic": "TESTDEFF",
			"beneficiaryName": "Ada Żółw"},
		object{"accountType": "pix", "pixKey": "ada@example.com"},
	}})
	return b.expect(http.StatusCreated, "POST", contracts+"/"+id+"/create-invoice", object{}).text("id")
}

func TestPublicInvoiceLink(t *testing.T) {
	w := newWorld(t)
	me := w.app()
	created := me.expect(http.StatusCreated, "POST", invoices, newInvoice())
	public := w.call("GET", created.text("invoiceLink"), nil)
	require.Equal(t, http.StatusOK, public.status)
	assert.Equal(t, created, public.body)

	me.expect(http.StatusOK, "PUT", invoices+"/"+created.text("id"), object{"status": "paid"})
	assert.Equal(t, "paid", w.call("GET", created.text("invoiceLink"), nil).body.text("status"))
	me.expect(http.StatusOK, "PUT", invoices+"/"+created.text("id"), object{"status": "draft"})
	refused(t, http.StatusNotFound, "not_found", w.call("GET", created.text("invoiceLink"), nil))
	refused(t, http.StatusNotFound, "not_found", w.call("GET", created.text("invoiceLink")+"/pdf", nil))
	refused(t, http.StatusNotFound, "not_found", w.call("GET", "/public/invoices/any", nil))
}

func TestInvoicePDFHasPaymentDetailsOnlyOnRequest(t *testing.T) {
	w := newWorld(t)
	id := w.app().sepaInvoice()
	path := "/public/invoices/" + id + "/pdf"
	plain := w.call("GET", path, nil).text(t)
	for _, want := range []string{"Invoice INV-0001\n", "Website\n", "2500.00\n", "2500.00 EUR\n",
		"ada@example.com\n"} {
		assert.Contains(t, plain, want)
	}
	for _, details := range []string{"Payment details", "DE89370400440532013000", "TESTDEFF", "PIX"} {
		assert.NotContains(t, plain, details)
	}
	sepa := w.call("GET", path+"?details=0", nil).text(t)
	for _, want := range []string{"Payment details\n", "DE89370400440532013000\n", "TESTDEFF\n", "Ada Żółw\n"} {
		assert.Contains(t, sepa, want)
	}
	assert.NotContains(t, sepa, "PIX key")
	assert.Contains(t, w.call("GET", path+"?details=1", nil).text(t), "PIX key\nada@example.com\n")

	again := w.call("GET", path, nil)
	assert.Equal(t, w.call("GET", path, nil).raw, again.raw, "the same copy is the same file")
	assert.Contains(t, plain, "Amount due\n")
	w.app().expect(http.StatusOK, "PUT", invoices+"/"+id, object{"status": "paid", "paidAt": "2026-02-03T10:00:00Z"})
	paid := w.call("GET", path, nil).text(t)
	assert.Contains(t, paid, "Amount paid\n")
	assert.Contains(t, paid, "3 February 2026\n")
	assert.NotContains(t, paid, "Amount due")
	for index, code := range map[string]string{"2": "index_out_of_range", "-1": "greater_than_equal",
		"one": "int_parsing"} {
		got := w.call("GET", path+"?details="+index, nil)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, map[string]string{"details": code}, got.fields())
		assert.Equal(t, "query", got.body.text("error", "details", "location"))
	}
}
