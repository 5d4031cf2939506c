package appapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Documents stores the files of invoices and contracts.
type Documents struct{ low lowLevel }

// Upload stores a document. It reads document.Content to its end and does not close it. The document travels in base64,
// and is held in memory once, in that form.
//
// If the reader fails, or ctx ends between two reads, Upload sends nothing, and fails with *errors.NotDelivered, which
// wraps that error. A document that is too large fails with *errors.PayloadTooLarge. The description states no limit:
// limit what you read from others, for example with http.MaxBytesReader.
func (s *Documents) Upload(
	ctx context.Context, document DocumentUpload, options ...moneymovement.CallOption,
) (*model.Document, error) {
	if err := transport.Of(s).low.ready(ctx, &opUploadDocument); err != nil {
		return nil, err
	}
	r := transport.Of(s).low.request(&opUploadDocument, options)
	about, err := codec.Marshal(documentAbout{document.Context, document.Name, document.OriginName, document.Type})
	if err != nil {
		r.Check().Refuse("name", "unencodable", err.Error())
	}
	body := transport.Encoded(about)
	if document.Content != nil && err == nil {
		if body, err = encodeDocument(ctx, document.Content, about); err != nil {
			return nil, &errors.NotDelivered{CallInfo: opUploadDocument.Head(""), Err: err}
		}
	}
	r.Body(body, document.validate)
	return transport.Do[model.Document](ctx, transport.Of(s).low.transport, r)
}

// documentAbout is the part of the body besides the document.
type documentAbout struct {
	Context    DocumentKind `json:"context,omitzero"`
	Name       string       `json:"name,omitzero"`
	OriginName string       `json:"originName,omitzero"`
	Type       DocumentKind `json:"type,omitzero"`
}

// encodeDocument writes the request's body while it reads the document. about is the JSON object that the document is
// added to. Base64 needs no escapes in JSON.
func encodeDocument(ctx context.Context, content io.Reader, about []byte) (transport.Encoded, error) {
	room := len(`"base64":"",`) + len(about) + base64.StdEncoding.EncodedLen(sizeHint(content))
	buffer := bytes.NewBuffer(make([]byte, 0, room))
	buffer.WriteString(`{"base64":"`)
	encoder := base64.NewEncoder(base64.StdEncoding, buffer)
	if _, err := io.Copy(encoder, whileAlive(ctx, content)); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	_ = encoder.Close() // into memory, which takes everything
	buffer.WriteByte('"')
	if len(about) > len("{}") {
		buffer.WriteByte(',')
	}
	buffer.Write(about[1:])
	return buffer.Bytes(), nil
}

// mostRoom bounds the memory that is reserved for the size that a reader claims.
const mostRoom = 64 << 20

// sizeHint returns how many bytes the reader will give, or 0 if it does not say. It saves growing the buffer.
func sizeHint(content io.Reader) int {
	size := int64(0)
	switch sized := content.(type) {
	case interface{ Len() int }: // such as a bytes.Reader
		size = int64(sized.Len())
	case interface{ Stat() (fs.FileInfo, error) }: // a file
		if info, err := sized.Stat(); err == nil {
			size = info.Size()
		}
	}
	return int(max(0, min(size, mostRoom)))
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// whileAlive reads until ctx ends. It cannot interrupt a read that blocks.
func whileAlive(ctx context.Context, content io.Reader) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return content.Read(p)
	})
}
