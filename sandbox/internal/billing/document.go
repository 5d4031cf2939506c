package billing

import (
	"cmp"
	"context"
	"fmt"
	"path"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// document is an uploaded file. The host stores its metadata only.
type document struct {
	ID, Name, Key string
	Kind          appwire.DocumentKind // "" if it was not given
	Owner         party
}

func (d *document) view() commonwire.Document {
	return commonwire.Document{ID: d.ID, Name: d.Name, Key: d.Key}
}

// Upload stores a document.
func (b *Billing) Upload(ctx context.Context, body appwire.DocumentUpload) (commonwire.Document, error) {
	t := b.enter(ctx)
	defer b.leave()
	switch size := len(body.Base64); {
	case size == 0:
		return commonwire.Document{}, refuse.InvalidField("base64", "string_too_short", "The document is empty.")
	case size > t.settings.MaxUpload:
		refusal := refuse.PayloadTooLarge()
		refusal.Message = fmt.Sprintf("A document has at most %d bytes.", t.settings.MaxUpload)
		return commonwire.Document{}, refusal
	}
	stored := &document{
		ID:    uuid.NewString(),
		Name:  cmp.Or(body.Name, body.OriginName, "document"),
		Kind:  body.Type,
		Owner: t.me,
	}
	stored.Key = path.Join("documents", cmp.Or(string(body.Type), "other"), stored.ID)
	t.documents.Put(stored.ID, stored)
	return stored.view(), nil
}
