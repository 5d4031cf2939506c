package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/model"
)

var steps = []string{
	"issued invoice EX-", "over 1049.90 EUR, sent, due ",
	"the recipient reads it without a credential: ", "asks Example client for 1049.90 EUR",
	"Design x 12.5 at 80.00", "Hosting x 1 at 49.90", "payment method 0: to the account of ",
	"the bank statement shows the payment: paid, paid at ", "with reference statement-invoice-",
	"saved its PDF to ",
}

// assertSaved checks that the file is a whole PDF, and the only file.
func assertSaved(t *testing.T, out, file string) {
	t.Helper()
	rest := rehearsal.CheckSteps(t, out, steps...)
	saved, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, file+", "+strconv.Itoa(len(saved))+" bytes\n", rest)
	assert.True(t, bytes.HasPrefix(saved, []byte("%PDF-")))
	assert.True(t, bytes.HasSuffix(bytes.TrimSpace(saved), []byte("%%EOF")))
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

func TestRunsAlone(t *testing.T) { rehearsal.RunAlone(t, run) }

func TestIssuesAnInvoiceAndSavesItsPDF(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	file := filepath.Join(t.TempDir(), "invoice.pdf")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-out", file}, &out))
	rehearsal.CheckSteps(t, out.String(), "started a sandbox host")
	assertSaved(t, out.String(), file)
}

func TestRunsOnAHostThatFlagsName(t *testing.T) {
	host, flags := rehearsal.Host(t)
	t.Setenv("MONEYMOVEMENT_API_KEY", host.Credentials().APIKey.Reveal())
	file := filepath.Join(t.TempDir(), "invoice.pdf")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{flags[0], flags[1], "-out", file}, &out))
	rehearsal.CheckSteps(t, out.String(), "using the sandbox host at "+flags[1])
	assertSaved(t, out.String(), file)
}

// If a download breaks off, no half file is left, and an older file stays.
func TestBrokenPDFIsNotSaved(t *testing.T) {
	host, flags := rehearsal.HostBehind(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if filepath.Base(r.URL.Path) != "pdf" {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("%PDF-1.7"))
		})
	})
	t.Setenv("MONEYMOVEMENT_API_KEY", host.Credentials().APIKey.Reveal())
	file := filepath.Join(t.TempDir(), "invoice.pdf")
	require.NoError(t, os.WriteFile(file, []byte("last month's"), 0o600))
	assert.ErrorContains(t, run(t.Context(), []string{flags[0], flags[1], "-out", file}, &bytes.Buffer{}),
		"RenderInvoicePDF")
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "last month's", string(kept))
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

func TestABaseURLNeedsAnAPIKey(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_API_KEY", "")
	assert.ErrorContains(t, run(t.Context(), []string{"-base-url", "http://127.0.0.1:1"}, &bytes.Buffer{}),
		"-base-url needs -api-key as well")
}

func TestPublicIDIsEndOfLink(t *testing.T) {
	for want, invoice := range map[string]model.Invoice{
		"abc": {ID: "i", InvoiceLink: "https://service.example/public/invoices/abc"}, "i": {ID: "i"},
	} {
		id, err := publicID(&invoice)
		require.NoError(t, err)
		assert.Equal(t, want, id)
	}
}
