package public_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/public"
)

func newServer(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server.URL
}

func newJar(t *testing.T, of string) http.CookieJar {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	address, err := url.Parse(of)
	require.NoError(t, err)
	jar.SetCookies(address, []*http.Cookie{{Name: "session", Value: "secret"}})
	return jar
}

func TestAPDFIsAStream(t *testing.T) {
	for name, test := range map[string]struct {
		params public.RenderInvoicePDFParams
		uri    string
	}{
		"without payment details": {public.RenderInvoicePDFParams{}, "/public/invoices/i1/pdf"},
		"with the first method": {public.RenderInvoicePDFParams{Details: new(0)},
			"/public/invoices/i1/pdf?details=0"},
		"with another method": {public.RenderInvoicePDFParams{Details: new(7)},
			"/public/invoices/i1/pdf?details=7"},
	} {
		t.Run(name, func(t *testing.T) {
			var sent *http.Request
			body := &closes{Reader: bytes.NewReader([]byte("%PDF-1.7 ..."))}
			client := newClient(t, func(r *http.Request) (*http.Response, error) {
				sent = r
				copied := response(http.StatusOK, "application/pdf; qs=1", "")
				copied.Body, copied.ContentLength = body, 12
				return copied, nil
			})
			pdf, err := client.Invoices.PDF(t.Context(), "i1", test.params)
			require.NoError(t, err)
			assertBare(t, sent, test.uri)
			assert.Equal(t, int64(12), pdf.Length)
			assert.Equal(t, "req_1", pdf.RequestID)
			read, err := io.ReadAll(pdf)
			require.NoError(t, err)
			assert.Equal(t, "%PDF-1.7 ...", string(read))
			require.NoError(t, pdf.Close())
			assert.True(t, body.closed)
		})
	}
}

type closes struct {
	io.Reader
	closed bool
}

func (c *closes) Close() error { c.closed = true; return nil }

// TestAPDFIsReadAsItComes: the first bytes are there before the last ones are written.
func TestAPDFIsReadAsItComes(t *testing.T) {
	seen := make(chan struct{})
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, "%PDF")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-seen:
		case <-r.Context().Done():
			return
		}
		_, _ = io.WriteString(w, "-1.7")
	})
	client, err := public.New(server)
	require.NoError(t, err)
	pdf, err := client.Invoices.PDF(t.Context(), "i1", public.RenderInvoicePDFParams{})
	require.NoError(t, err)
	defer pdf.Close()
	assert.Equal(t, int64(-1), pdf.Length)
	head := make([]byte, 4)
	_, err = io.ReadFull(pdf, head)
	require.NoError(t, err)
	assert.Equal(t, "%PDF", string(head))
	close(seen)
	tail, err := io.ReadAll(pdf)
	require.NoError(t, err)
	assert.Equal(t, "-1.7", string(tail))
}

func TestResponseOfAnotherTypeIsAnError(t *testing.T) {
	const tooLong = 64<<20 + 1
	for name, test := range map[string]struct {
		status            int
		contentType, body string
		length            int
		is                func(error) bool
	}{
		"a page of a proxy":     {200, "text/html", "<html>sign in</html>", 0, is[*errors.UnexpectedResponse]},
		"JSON":                  {200, "application/json", `{"url":"elsewhere"}`, 0, is[*errors.UnexpectedResponse]},
		"bytes of any kind":     {200, "application/octet-stream", "%PDF-1.7", 0, is[*errors.UnexpectedResponse]},
		"no type":               {200, "", "%PDF-1.7", 0, is[*errors.UnexpectedResponse]},
		"announced as too long": {200, "application/pdf", "%PDF-1.7", tooLong, is[*errors.UnexpectedResponse]},
		"another success":       {202, "application/pdf", "", 0, is[*errors.UnexpectedResponse]},
		"an index out of range": {422, "application/json",
			`{"error":{"code":"validation_failed","message":"m","details":{"fields":[{"field":"details",` +
				`"code":"out_of_range","message":"m"}],"location":"query"}}}`, 0, is[*errors.ValidationFailed]},
		"no such invoice": {404, "application/json", `{"error":{"code":"not_found","message":"m"}}`, 0,
			is[*errors.NotFound]},
		"a refusal in a PDF's type": {404, "application/pdf", `%PDF-1.7`, 0, is[*errors.UnexpectedResponse]},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, func(*http.Request) (*http.Response, error) {
				answered := response(test.status, test.contentType, test.body)
				if test.length > 0 {
					answered.ContentLength = int64(test.length)
				}
				return answered, nil
			})
			pdf, err := client.Invoices.PDF(t.Context(), "i1", public.RenderInvoicePDFParams{Details: new(3)})
			assert.Nil(t, pdf)
			assert.True(t, test.is(err), "%T %v", err, err)
			assert.NotContains(t, err.Error(), "sign in")
		})
	}
}

func TestAPDFThatGoesWrongLaterFailsTheRead(t *testing.T) {
	t.Run("it breaks off", func(t *testing.T) {
		server := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("Content-Length", strconv.Itoa(100))
			_, _ = io.WriteString(w, "%PDF-1.7")
		})
		client, err := public.New(server)
		require.NoError(t, err)
		pdf, err := client.Invoices.PDF(t.Context(), "i1", public.RenderInvoicePDFParams{})
		require.NoError(t, err)
		defer pdf.Close()
		read, err := io.ReadAll(pdf)
		assert.Equal(t, "%PDF-1.7", string(read))
		var unexpected *errors.UnexpectedResponse
		require.ErrorAs(t, err, &unexpected)
		assert.Equal(t, "RenderInvoicePDF", unexpected.Operation)
	})
	t.Run("it has no end", func(t *testing.T) {
		client := newClient(t, func(*http.Request) (*http.Response, error) {
			endless := response(http.StatusOK, "application/pdf", "")
			endless.Body, endless.ContentLength = io.NopCloser(zeros{}), -1
			return endless, nil
		})
		pdf, err := client.Invoices.PDF(t.Context(), "i1", public.RenderInvoicePDFParams{})
		require.NoError(t, err)
		read, err := io.Copy(io.Discard, pdf)
		assert.Equal(t, int64(64<<20), read)
		assert.True(t, is[*errors.UnexpectedResponse](err), "%v", err)
	})
	t.Run("the caller goes", func(t *testing.T) {
		server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = io.WriteString(w, "%PDF")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
		client, err := public.New(server)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		pdf, err := client.Invoices.PDF(ctx, "i1", public.RenderInvoicePDFParams{})
		require.NoError(t, err)
		defer pdf.Close()
		cancel()
		_, err = io.ReadAll(pdf)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// The timeout of a call covers the reading of its stream, and ends when that is closed.
func TestATimeoutCoversTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent *http.Request
		client := newClient(t, func(r *http.Request) (*http.Response, error) {
			sent = r
			return response(http.StatusOK, "application/pdf", "%PDF-1.7 ..."), nil
		}, moneymovement.WithTimeout(time.Minute))
		for _, closed := range []bool{true, false} {
			pdf, err := client.Invoices.PDF(t.Context(), "i1", public.RenderInvoicePDFParams{})
			require.NoError(t, err)
			time.Sleep(59 * time.Second)
			require.NoError(t, sent.Context().Err(), "the stream is open")
			if closed {
				require.NoError(t, pdf.Close())
				require.ErrorIs(t, sent.Context().Err(), context.Canceled)
				continue
			}
			time.Sleep(time.Second)
			synctest.Wait()
			require.ErrorIs(t, sent.Context().Err(), context.DeadlineExceeded)
			require.NoError(t, pdf.Close())
		}
	})
}
