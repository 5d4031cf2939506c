package sandbox_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
	b.got(http.StatusOK, "PUT", contracts+"/"+id+"/payment_methods", object{"paymentMethods": []any{
		object{"accountType": "sepa", "ibanNumber": "DE89370400440532013000", "bic": "TESTDEFF",
			"beneficiaryName": "Ada Żółw"},
		object{"accountType": "pix", "pixKey": "ada@example.com"},
	}})
	return b.got(http.StatusCreated, "POST", contracts+"/"+id+"/create-invoice", object{}).text("id")
}

func TestAnInvoiceAppearsAtItsPublicLink(t *testing.T) {
	w := newWorld(t)
	me := w.app()
	made := me.got(http.StatusCreated, "POST", invoices, newInvoice())
	public := w.call("GET", made.text("invoiceLink"), nil)
	require.Equal(t, http.StatusOK, public.status)
	assert.Equal(t, made, public.body)

	me.got(http.StatusOK, "PUT", invoices+"/"+made.text("id"), object{"status": "paid"})
	assert.Equal(t, "paid", w.call("GET", made.text("invoiceLink"), nil).body.text("status"))
	me.got(http.StatusOK, "PUT", invoices+"/"+made.text("id"), object{"status": "draft"})
	refused(t, http.StatusNotFound, "not_found", w.call("GET", made.text("invoiceLink"), nil))
	refused(t, http.StatusNotFound, "not_found", w.call("GET", made.text("invoiceLink")+"/pdf", nil))
	refused(t, http.StatusNotFound, "not_found", w.call("GET", "/public/invoices/any", nil))
}

func TestACopyCarriesPaymentDetailsOnlyWhenAsked(t *testing.T) {
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
	w.app().got(http.StatusOK, "PUT", invoices+"/"+id, object{"status": "paid", "paidAt": "2026-02-03T10:00:00Z"})
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
