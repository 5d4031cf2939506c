package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

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
	id := b.got(http.StatusCreated, "POST", contracts, newContract()).text("id")
	b.host.Advance(time.Minute)
	require.Equal(b.t, "active", b.got(http.StatusOK, "POST", contracts+"/"+id+"/approve", nil).text("status"))
	return id
}

func TestAContractMovesThroughItsNamedStates(t *testing.T) {
	w := newWorld(t)
	me := w.app()
	made := me.got(http.StatusCreated, "POST", contracts, newContract())
	path := contracts + "/" + made.text("id")
	assert.Equal(t, "pending_approval_by_contractor", made.text("status"))
	assert.Equal(t, false, made.at("contractor", "isBusiness"))
	assert.Equal(t, me.got(http.StatusOK, "GET", "/user", nil).text("id"), made.text("clientId"))
	refused(t, http.StatusConflict, "conflict", me.call("POST", path+"/pause", nil))

	w.host.Advance(time.Minute)
	assert.Equal(t, "pending_approval_by_client", me.got(http.StatusOK, "GET", path, nil).text("status"))
	assert.Equal(t, "active", me.got(http.StatusOK, "POST", path+"/approve", nil).text("status"))
	assert.Equal(t, "paused", me.got(http.StatusOK, "POST", path+"/pause", nil).text("status"))
	refused(t, http.StatusConflict, "conflict", me.call("POST", path+"/create-invoice", object{}))
	assert.Equal(t, "active", me.got(http.StatusOK, "POST", path+"/approve", nil).text("status"))
	changed := me.got(http.StatusOK, "PATCH", path,
		object{"expirationAt": w.host.Now().Add(time.Hour), "fields": object{"amount": "3000"}})
	assert.Equal(t, "3000", changed.text("amount"))
	assert.Equal(t, "Website", changed.text("label"))
	w.host.Advance(2 * time.Hour)
	assert.Equal(t, "completed", w.reference().got(http.StatusOK, "GET", "/api/v1/invoices"+path, nil).text("status"))

	other := contracts + "/" + me.activeContract()
	require.Equal(t, http.StatusNoContent, me.call("DELETE", other, nil).status)
	assert.Equal(t, "cancelled", me.got(http.StatusOK, "GET", other, nil).text("status"))
	assert.Len(t, itemsOf(me.got(http.StatusOK, "GET", contracts, nil)), 2)
}

func TestTheContractorApprovesWithAKeyOfItsOwn(t *testing.T) {
	w := newWorld(t)
	me, ada := w.app(), w.appWith(sandbox.AppKeyRegistration{Email: "ada@example.com"})
	path := contracts + "/" + me.got(http.StatusCreated, "POST", contracts, newContract()).text("id")
	assert.Equal(t, "pending_approval_by_client", ada.got(http.StatusOK, "POST", path+"/approve", nil).text("status"))
	signed := me.got(http.StatusOK, "POST", path+"/approve", nil)
	assert.Equal(t, "active", signed.text("status"))
	assert.NotEmpty(t, signed.text("contractorAcceptance", "acceptedAt"))
	refused(t, http.StatusNotFound, "not_found", w.appWith(sandbox.AppKeyRegistration{Email: "eve@example.com"}).
		call("GET", path, nil))
}

func TestPreviewsAndTemplates(t *testing.T) {
	me := newWorld(t).app()
	preview := me.got(http.StatusOK, "GET", contracts+"/"+me.activeContract()+"/preview", nil)
	assert.Equal(t, "2500", preview.text("fields", "amount"))
	assert.Contains(t, preview.text("text"), "Build it.")
	assert.Len(t, itemsOf(me.got(http.StatusOK, "GET", contracts+"/templates", nil)), 10)
}

func TestTheLiteralSegmentInvoicesIsNoContract(t *testing.T) {
	me := newWorld(t).app()
	assert.NotNil(t, me.got(http.StatusOK, "GET", contracts+"/invoices", nil).at("items"))
	got := me.call("GET", contracts+"/invoices/preview", nil)
	assert.Equal(t, map[string]string{"invoice_id": "uuid_parsing"}, got.fields(), "%s", got.raw)
	got = me.call("PUT", contracts+"/invoices/payment_methods", object{"status": "paid"})
	assert.Equal(t, map[string]string{"invoice_id": "uuid_parsing"}, got.fields(), "%s", got.raw)
}

func TestAContractIsInvoiced(t *testing.T) {
	me := newWorld(t).app()
	id := me.activeContract()
	made := me.got(http.StatusCreated, "POST", contracts+"/"+id+"/create-invoice", object{
		"periodStart": "2026-01-01", "invoicePrefix": "JAN", "contractorAddress": object{"city": "Rome"},
		"addItems": []any{object{"name": "Trip", "quantity": 0.5, "price": "99.99"}},
	})
	assert.Equal(t, "2550", made.text("amount"))
	assert.InDelta(t, 1, made.at("periodNumber"), 0)
	assert.Equal(t, id, made.text("contract", "id"))
	assert.Equal(t, true, made.at("contract", "isRecurring"))
	refused(t, http.StatusConflict, "conflict",
		me.call("POST", contracts+"/"+id+"/create-invoice", object{"periodStart": "2026-01-01"}))
	assert.Equal(t, made.text("id"), me.got(http.StatusOK, "GET", contracts+"/"+id, nil).text("lastInvoice", "id"))

	me.got(http.StatusOK, "PATCH", contracts+"/"+id, object{"period": ""})
	assert.Equal(t, false, me.got(http.StatusOK, "GET", invoices+"/"+made.text("id"), nil).
		at("contract", "isRecurring"), "without a period")
}

func TestABatchWithOneBadRowIssuesNothing(t *testing.T) {
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
	assert.Empty(t, itemsOf(me.got(http.StatusOK, "GET", invoices, nil)))

	issued := itemsOf(me.got(http.StatusCreated, "POST", batch, []any{
		object{"contractId": two, "period": 3, "memo": "March"}, object{"contractId": one},
	}))
	require.Len(t, issued, 2)
	assert.Equal(t, "March", issued[0].text("comment"))
	assert.Equal(t, two, issued[0].text("contract", "id"))
	assert.Len(t, itemsOf(me.got(http.StatusOK, "GET", invoices, nil)), 2)
}
