package appapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"iter"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Contracts creates, reads and changes contracts. A contract is an agreement that invoices are issued under. The id of
// a contract is a UUID.
type Contracts struct{ low lowLevel }

// List returns one page: at most params.Limit contracts, starting at params.Offset. If Limit is 0, the service decides
// how many.
func (s *Contracts) List(
	ctx context.Context, params ListContractsParams, options ...moneymovement.CallOption,
) (*ContractList, error) {
	return transport.OrNew(s).low.ListContracts(ctx, &params, options)
}

// All reads every page, starting at params.Offset. You can range over the result more than once. The iteration ends
// after the first error. If contracts are created or deleted meanwhile, it can miss a contract or return one twice.
func (s *Contracts) All(
	ctx context.Context, params ListContractsParams, options ...moneymovement.CallOption,
) iter.Seq2[model.Contract, error] {
	return pages(ctx, &opListContracts, s.List, params, options,
		func(p *ListContractsParams) (offset *int, limit int) { return &p.Offset, p.Limit },
		func(l *ContractList) ([]model.Contract, int) { return l.Items, l.Total })
}

// Get returns one contract.
func (s *Contracts) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Contract, error) {
	return transport.OrNew(s).low.GetContract(ctx, id, options)
}

// Preview returns the document of a contract: its text, and the values that were filled in.
func (s *Contracts) Preview(
	ctx context.Context, id string, options ...moneymovement.CallOption,
) (*ContractPreview, error) {
	return transport.OrNew(s).low.PreviewContract(ctx, id, options)
}

// Templates returns the templates that contracts can be created from.
func (s *Contracts) Templates(ctx context.Context, options ...moneymovement.CallOption) ([]ContractTemplate, error) {
	list, err := transport.OrNew(s).low.ListContractTemplates(ctx, options)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Create offers a contract to a contractor. A second call can offer a second contract, so Create is never sent twice.
// If its response is lost, it fails with *errors.InDoubt: read [Contracts.List] to find the contract.
func (s *Contracts) Create(
	ctx context.Context, contract ContractCreate, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	return transport.OrNew(s).low.CreateContract(ctx, &contract, options)
}

// Update changes the fields and the schedule of a contract, and returns the contract. A field that is not set stays as
// it is. A field that is set to null or to an empty text is cleared.
func (s *Contracts) Update(
	ctx context.Context, id string, change ContractUpdate, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	return transport.OrNew(s).low.UpdateContract(ctx, id, &change, options).
		ValueOrRead(reading(ctx, id, transport.OrNew(s).low, lowLevel.GetContract))
}

// Approve accepts a contract for the party that calls, and returns the contract. The description does not show which
// states allow this. In any other state, Approve fails with *errors.Conflict.
func (s *Contracts) Approve(
	ctx context.Context, id string, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	low := transport.OrNew(s).low
	return low.ApproveContract(ctx, id, options).ValueOrRead(reading(ctx, id, low, lowLevel.GetContract))
}

// Pause pauses a contract, and returns the contract. The description does not say what a pause stops, or what ends it.
// It also does not show which states allow a pause. In any other state, Pause fails with *errors.Conflict.
func (s *Contracts) Pause(
	ctx context.Context, id string, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	low := transport.OrNew(s).low
	return low.PauseContract(ctx, id, options).ValueOrRead(reading(ctx, id, low, lowLevel.GetContract))
}

// ReplacePaymentMethods replaces all payment methods of a contract, and returns the contract. If methods is empty, the
// contract has none afterwards. Make each method with model.NewPaymentMethod.
func (s *Contracts) ReplacePaymentMethods(
	ctx context.Context, id string, methods []model.PaymentMethod, options ...moneymovement.CallOption,
) (*model.Contract, error) {
	if methods == nil {
		methods = []model.PaymentMethod{} // an empty list is sent, and nil is not
	}
	low := transport.OrNew(s).low
	return low.ReplacePaymentMethods(ctx, id, &paymentMethodsReplacement{methods}, options).
		ValueOrRead(reading(ctx, id, low, lowLevel.GetContract))
}

// Delete deletes a contract.
func (s *Contracts) Delete(ctx context.Context, id string, options ...moneymovement.CallOption) error {
	return transport.OrNew(s).low.DeleteContract(ctx, id, options)
}

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
	if err := transport.OrNew(s).low.ready(ctx, &opUploadDocument); err != nil {
		return nil, err
	}
	r := transport.OrNew(s).low.request(&opUploadDocument, options)
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
	return transport.Do[model.Document](ctx, transport.OrNew(s).low.transport, r)
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
