package appapi_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	sdkerrors "github.com/moneymovement/moneymovement-go/errors"
)

func TestADocumentArrivesAsItWas(t *testing.T) {
	server, app := serve(t, responding(201, `{"id":"`+id1+`"}`))
	rapid.Check(t, func(t *rapid.T) {
		document := rapid.SliceOfN(rapid.Byte(), 1, 2000).Draw(t, "document")
		name := rapid.String().Draw(t, "name")
		readers := []io.Reader{bytes.NewReader(document), iotest.OneByteReader(bytes.NewReader(document)),
			iotest.DataErrReader(bytes.NewReader(document))}
		reader := rapid.SampledFrom(readers).Draw(t, "reader")

		_, err := app.Documents.Upload(t.Context(),
			appapi.DocumentUpload{Content: reader, Name: name, Type: appapi.DocumentKindInvoice})
		require.NoError(t, err)
		sent := server.requests()
		var got struct{ Base64, Name, Type string }
		require.NoError(t, json.Unmarshal([]byte(sent[len(sent)-1].body), &got))
		assert.Equal(t, base64.StdEncoding.EncodeToString(document), got.Base64)
		assert.Equal(t, name, got.Name)
		assert.Equal(t, "invoice", got.Type)
	})
}

func TestUploadOfADocumentWithoutOptionalFields(t *testing.T) {
	server, app := serve(t, responding(201, `{"id":"d"}`))
	_, err := app.Documents.Upload(t.Context(), appapi.DocumentUpload{Content: strings.NewReader("a")})
	require.NoError(t, err)
	assert.JSONEq(t, `{"base64":"YQ=="}`, server.requests()[0].body)
}

// The description names no bound, so that the service decides.
func TestALargeDocumentIsSent(t *testing.T) {
	server, app := serve(t, responding(413, `{"error":{"code":"payload_too_large","message":"at most 10 MiB"}}`))
	const size = 11 << 20
	_, err := app.Documents.Upload(t.Context(), appapi.DocumentUpload{Content: bytes.NewReader(make([]byte, size))})
	_, is := sdkerrors.AsType[*sdkerrors.PayloadTooLarge](err)
	assert.True(t, is, "%v", err)
	assert.Len(t, server.requests()[0].body, base64.StdEncoding.EncodedLen(size)+len(`{"base64":""}`))
}

// TestDocumentIsHeldInMemoryOnce: what is allocated is its encoded form, and not its bytes beside it.
func TestDocumentIsHeldInMemoryOnce(t *testing.T) {
	const size = 8 << 20
	file, err := os.Create(filepath.Join(t.TempDir(), "document"))
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, file.Truncate(size))
	app, err := appapi.New("https://service.example", appapi.NewAPIKey("k"),
		moneymovement.WithHTTPClient(&http.Client{Transport: roundTrip(func(*http.Request) string {
			return `{"id":"d"}`
		})}))
	require.NoError(t, err)
	for name, document := range map[string]io.Reader{"bytes": bytes.NewReader(make([]byte, size)), "a file": file} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = app.Documents.Upload(t.Context(), appapi.DocumentUpload{Content: document})
		runtime.ReadMemStats(&after)
		require.NoError(t, err, name)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(base64.StdEncoding.EncodedLen(size)+1<<20), name)
	}
}

// TestAnUploadEndsWithItsContext: also while the document is read.
func TestAnUploadEndsWithItsContext(t *testing.T) {
	server, app := serve(t, losing)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reads := 0
	_, err := app.Documents.Upload(ctx, appapi.DocumentUpload{Content: reader(func(p []byte) (int, error) {
		if reads++; reads == 3 {
			cancel()
		}
		return len(p), nil
	})})
	require.ErrorIs(t, err, context.Canceled)
	_, is := sdkerrors.AsType[*sdkerrors.NotDelivered](err)
	assert.True(t, is, "%T", err)
	assert.Equal(t, 3, reads)
	assert.Empty(t, server.requests())
}

type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

func TestServiceMayHaveASmallerUploadLimit(t *testing.T) {
	_, app := serve(t, responding(413, `{"error":{"code":"payload_too_large","message":"at most 3 bytes"}}`))
	_, err := app.Documents.Upload(t.Context(), appapi.DocumentUpload{Content: strings.NewReader("four")})
	_, is := sdkerrors.AsType[*sdkerrors.PayloadTooLarge](err)
	assert.True(t, is, "%v", err)
}

func TestADocumentThatCannotBeReadIsNotSent(t *testing.T) {
	server, app := serve(t, losing)
	broken := errors.New("the disk is gone")
	_, err := app.Documents.Upload(t.Context(),
		appapi.DocumentUpload{Content: io.MultiReader(strings.NewReader("start"), iotest.ErrReader(broken))})
	require.ErrorIs(t, err, broken)
	failure, is := sdkerrors.AsType[*sdkerrors.NotDelivered](err)
	require.True(t, is)
	assert.Equal(t, sdkerrors.NotMoved, failure.MovedByCall())
	assert.Equal(t, "UploadDocument", failure.Operation)
	assert.Empty(t, failure.IdempotencyKey)
	assert.Empty(t, server.requests())
}

// A document is not read for a call that cannot be made.
func TestAnUploadThatCannotBeMade(t *testing.T) {
	server, app := serve(t, responding(200, "{}"))
	content := reader(func([]byte) (int, error) {
		t.Error("it was read")
		return 0, io.EOF
	})
	var without context.Context
	_, err := app.Documents.Upload(without, appapi.DocumentUpload{Content: content})
	var input *sdkerrors.InvalidInput
	require.ErrorAs(t, err, &input)
	assert.Equal(t, "context", input.Fields[0].Field)
	_, err = new(appapi.Documents).Upload(t.Context(), appapi.DocumentUpload{Content: content})
	require.ErrorAs(t, err, &input)
	assert.Equal(t, "client", input.Fields[0].Field)
	assert.Empty(t, server.requests())
}
