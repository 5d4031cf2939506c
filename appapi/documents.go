package appapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Documents are the files behind invoices and contracts.
//
// Source: App API, Documents.
type Documents struct{ low lowLevel }

// MaxDocument is how many bytes a document may have here. The description names the refusal of a larger one, *errors.PayloadTooLarge, and
// not the bound, which is assumed: a service may refuse less.
const MaxDocument = 10 << 20

// Upload stores a document. Its Content is read to the end and encoded on the way, so that its bytes are never held apart from the body that is
// sent; it is not closed. More than [MaxDocument] bytes and none at all are *errors.InvalidInput, and a reader that fails is
// *errors.NotDelivered around its error; in both cases nothing was sent.
func (s *Documents) Upload(ctx context.Context, document DocumentUpload, options ...moneymovement.CallOption) (*moneymovement.Document, error) {
	r := s.low.request(&opUploadDocument, options)
	about, err := json.Marshal(documentAbout{document.Context, document.Name, document.OriginName, document.Type})
	if err != nil {
		r.Check().Refuse("name", "unencodable", err.Error())
	}
	var body transport.Encoded
	if document.Content != nil && err == nil {
		encoded, size, err := encodeDocument(document.Content, about)
		if err != nil {
			return nil, &errors.NotDelivered{Operation: opUploadDocument.ID, Err: err}
		}
		body = encoded
		r.Check().Missing("base64", size == 0)
		if size > MaxDocument {
			r.Check().Refuse("base64", "too_long", fmt.Sprintf("has more than %d bytes", MaxDocument))
		}
	}
	r.Body(body, document.validate)
	return transport.Do[moneymovement.Document](ctx, s.low.transport, r)
}

// documentAbout is what travels with a document.
type documentAbout struct {
	Context    DocumentKind `json:"context,omitzero"`
	Name       string       `json:"name,omitzero"`
	OriginName string       `json:"originName,omitzero"`
	Type       DocumentKind `json:"type,omitzero"`
}

// encodeDocument writes the request's body while it reads the document, at most one byte more than allowed. about is the object that the
// document goes into. Base64 needs no escapes in JSON.
func encodeDocument(content io.Reader, about []byte) (body transport.Encoded, size int64, err error) {
	room := len(`"base64":"",`) + len(about)
	if sized, known := content.(interface{ Len() int }); known {
		room += base64.StdEncoding.EncodedLen(max(0, min(sized.Len(), MaxDocument)))
	}
	buffer := bytes.NewBuffer(make([]byte, 0, room))
	buffer.WriteString(`{"base64":"`)
	encoder := base64.NewEncoder(base64.StdEncoding, buffer)
	size, err = io.Copy(encoder, io.LimitReader(content, MaxDocument+1))
	if err != nil {
		return nil, size, fmt.Errorf("read document: %w", err)
	}
	_ = encoder.Close() // into memory, which takes everything
	buffer.WriteByte('"')
	if len(about) > len("{}") {
		buffer.WriteByte(',')
	}
	buffer.Write(about[1:])
	return buffer.Bytes(), size, nil
}
