package paperwork

import (
	"cmp"
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/publicwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// Profile is an account as the other parties of its contracts and invoices see it.
type Profile struct {
	// ID is the account's UUID. If it is empty, it is derived from the email address.
	ID                                           string
	Email                                        string
	DisplayName, FirstName, LastName, EntityName string
	IsBusiness                                   bool
	Address                                      *commonwire.PostalAddress
	// WalletAddress is the account's wallet on Base.
	WalletAddress string
}

// Config has what the service needs from the host. The functions must be safe for concurrent use.
type Config struct {
	Clock    *clock.Clock
	Settings func() *deployment.Settings
	// Profile returns the account that makes a request.
	Profile func(context.Context) Profile
	// Store keeps contracts, invoices and documents.
	Store store.Store
}

// Service serves the operations on documents, contracts and invoices. It is safe for concurrent use.
type Service struct {
	config Config

	mu    sync.Mutex
	state *state
}

// state is what Reset deletes: the stored records by their ids, and values derived from them.
type state struct {
	keeper    *store.Keeper
	documents *store.Table[document]
	contracts *store.Table[contract]
	invoices  *store.Table[invoice]
	numbers   *store.Table[sequence]

	contractOrder []*contract         // oldest first
	invoiceOrder  []*invoice          // oldest first
	references    map[string]*invoice // by custom transaction reference
}

// New returns the service with the stored records.
func New(config Config) *Service {
	s := &state{keeper: store.NewKeeper(config.Store), references: map[string]*invoice{}}
	s.documents = store.Open[document](s.keeper, "billing.document")
	s.contracts = store.Open(s.keeper, "billing.contract", func(_ string, c *contract) {
		s.contractOrder = append(s.contractOrder, c)
	})
	s.invoices = store.Open(s.keeper, "billing.invoice", func(_ string, i *invoice) {
		i.contract, i.document = s.contracts.Get(i.ContractID), s.documents.Get(i.DocumentID)
		s.addInvoice(i)
		if i.Reference != "" {
			s.references[i.Reference] = i
		}
	})
	s.numbers = store.Open[sequence](s.keeper, "billing.number")
	return &Service{config: config, state: s}
}

// addInvoice adds an invoice as the latest.
func (s *state) addInvoice(i *invoice) {
	s.invoiceOrder = append(s.invoiceOrder, i)
	if i.contract != nil {
		i.contract.invoices = append(i.contract.invoices, i)
	}
}

// Reset returns to the initial state.
func (b *Service) Reset() {
	b.mu.Lock()
	defer b.commit()
	s := b.state
	s.documents.Clear()
	s.contracts.Clear()
	s.invoices.Clear()
	s.numbers.Clear()
	s.contractOrder, s.invoiceOrder, s.references = nil, nil, map[string]*invoice{}
}

// txn is one request's access to the state. It lasts as long as the lock is held.
type txn struct {
	*state
	settings *deployment.Settings
	now      time.Time
	me       party // the caller; zero on public routes
}

// begin takes the lock for an account's request. commit releases it.
func (b *Service) begin(ctx context.Context) *txn {
	me := b.config.Profile(ctx).party()
	t := b.beginPublic()
	t.me = me
	return t
}

// beginPublic takes the lock for a request that needs no account.
func (b *Service) beginPublic() *txn {
	settings := b.config.Settings()
	b.mu.Lock()
	return &txn{state: b.state, settings: settings, now: b.config.Clock.Now().Truncate(precision)}
}

// precision is the precision of the host's times.
const precision = time.Millisecond

// commit stores what has changed, and releases the lock.
func (b *Service) commit() {
	defer b.mu.Unlock()
	b.state.keeper.Commit()
}

// Records returns how many records there are.
func (b *Service) Records() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	return s.documents.Len() + s.contracts.Len() + s.invoices.Len() + len(s.references) + s.numbers.Len()
}

// AppAPI serves the app API's operations on documents, contracts and invoices.
type AppAPI struct{ *Service }

// UploadDocument implements the operation of that name.
func (a AppAPI) UploadDocument(ctx context.Context, body appwire.DocumentUpload) (wire.Response, error) {
	response, err := a.Upload(ctx, body)
	return wire.Created(response), err
}

// ListInvoices implements the operation of that name.
func (a AppAPI) ListInvoices(ctx context.Context, params appwire.ListInvoicesParams) (wire.Response, error) {
	return wire.OK(a.Invoices(ctx, wire.Page{Limit: params.Limit, Offset: params.Offset})), nil
}

// GetInvoice implements the operation of that name.
func (a AppAPI) GetInvoice(ctx context.Context, invoiceID string) (wire.Response, error) {
	response, err := a.Invoice(ctx, invoiceID)
	return wire.OK(response), err
}

// CreateInvoice implements the operation of that name.
func (a AppAPI) CreateInvoice(ctx context.Context, body appwire.InvoiceCreate) (wire.Response, error) {
	response, err := a.Service.CreateInvoice(ctx, body)
	return wire.Created(response), err
}

// CreateUploadedInvoice implements the operation of that name.
func (a AppAPI) CreateUploadedInvoice(ctx context.Context, body appwire.UploadedInvoiceCreate) (wire.Response, error) {
	response, err := a.Service.CreateUploadedInvoice(ctx, body)
	return wire.Created(response), err
}

// CreateInvoiceFromContract implements the operation of that name.
func (a AppAPI) CreateInvoiceFromContract(
	ctx context.Context, contractID string, body appwire.ContractInvoiceCreate,
) (wire.Response, error) {
	response, err := a.Service.CreateInvoiceFromContract(ctx, contractID, body)
	return wire.Created(response), err
}

// CreateInvoiceBatch implements the operation of that name.
func (a AppAPI) CreateInvoiceBatch(ctx context.Context, body appwire.InvoiceBatch) (wire.Response, error) {
	response, err := a.Service.CreateInvoiceBatch(ctx, body)
	return wire.Created(response), err
}

// UpdateInvoice implements the operation of that name.
func (a AppAPI) UpdateInvoice(
	ctx context.Context, invoiceID string, body commonwire.InvoiceUpdate,
) (wire.Response, error) {
	response, err := a.Service.UpdateInvoice(ctx, invoiceID, body)
	return wire.OK(response), err
}

// ListContracts implements the operation of that name.
func (a AppAPI) ListContracts(ctx context.Context, params appwire.ListContractsParams) (wire.Response, error) {
	return wire.OK(a.Contracts(ctx, wire.Page{Limit: params.Limit, Offset: params.Offset})), nil
}

// ListContractTemplates implements the operation of that name.
func (a AppAPI) ListContractTemplates(context.Context) (wire.Response, error) {
	return wire.OK(a.Templates()), nil
}

// GetContract implements the operation of that name.
func (a AppAPI) GetContract(ctx context.Context, contractID string) (wire.Response, error) {
	response, err := a.Contract(ctx, contractID)
	return wire.OK(response), err
}

// CreateContract implements the operation of that name.
func (a AppAPI) CreateContract(ctx context.Context, body appwire.ContractCreate) (wire.Response, error) {
	response, err := a.Service.CreateContract(ctx, body)
	return wire.Created(response), err
}

// UpdateContract implements the operation of that name.
func (a AppAPI) UpdateContract(
	ctx context.Context, contractID string, body appwire.ContractUpdate,
) (wire.Response, error) {
	response, err := a.Service.UpdateContract(ctx, contractID, body)
	return wire.OK(response), err
}

// DeleteContract implements the operation of that name.
func (a AppAPI) DeleteContract(ctx context.Context, contractID string) (wire.Response, error) {
	return wire.NoContent(), a.Service.DeleteContract(ctx, contractID)
}

// PreviewContract implements the operation of that name.
func (a AppAPI) PreviewContract(ctx context.Context, contractID string) (wire.Response, error) {
	response, err := a.Preview(ctx, contractID)
	return wire.OK(response), err
}

// PauseContract implements the operation of that name.
func (a AppAPI) PauseContract(ctx context.Context, contractID string) (wire.Response, error) {
	response, err := a.Service.PauseContract(ctx, contractID)
	return wire.OK(response), err
}

// ApproveContract implements the operation of that name.
func (a AppAPI) ApproveContract(ctx context.Context, contractID string) (wire.Response, error) {
	response, err := a.Service.ApproveContract(ctx, contractID)
	return wire.OK(response), err
}

// ReplacePaymentMethods implements the operation of that name.
func (a AppAPI) ReplacePaymentMethods(
	ctx context.Context, contractID string, body appwire.PaymentMethodsReplacement,
) (wire.Response, error) {
	response, err := a.Service.ReplacePaymentMethods(ctx, contractID, body.PaymentMethods)
	return wire.OK(response), err
}

// PublicAPI serves the public utilities' operations on invoices.
type PublicAPI struct{ *Service }

// GetInvoice implements the operation of that name.
func (a PublicAPI) GetInvoice(_ context.Context, invoiceID string) (wire.Response, error) {
	response, err := a.PublicInvoice(invoiceID)
	return wire.OK(response), err
}

// RenderInvoicePDF implements the operation of that name.
func (a PublicAPI) RenderInvoicePDF(
	_ context.Context, id string, params publicwire.RenderInvoicePDFParams,
) (wire.Response, error) {
	file, err := a.RenderInvoice(id, params.Details)
	return wire.File("application/pdf", file), err
}

// ReferenceAPI serves the reference endpoints' operations on contracts and invoices.
type ReferenceAPI struct{ *Service }

// UpdateInvoice implements the operation of that name.
func (a ReferenceAPI) UpdateInvoice(
	ctx context.Context, invoiceID string, body commonwire.InvoiceUpdate,
) (wire.Response, error) {
	response, err := a.Service.UpdateInvoice(ctx, invoiceID, body)
	return wire.OK(response), err
}

// UpdateInvoiceOnInvoicesPath implements the operation of that name.
func (a ReferenceAPI) UpdateInvoiceOnInvoicesPath(
	ctx context.Context, invoiceID string, body commonwire.InvoiceUpdate,
) (wire.Response, error) {
	response, err := a.Service.UpdateInvoice(ctx, invoiceID, body)
	return wire.OK(response), err
}

// GetContract implements the operation of that name.
func (a ReferenceAPI) GetContract(ctx context.Context, contractID string) (wire.Response, error) {
	response, err := a.Contract(ctx, contractID)
	return wire.OK(response), err
}

// party is one side of a contract or an invoice.
type party struct {
	ID      string // of the account
	Profile Profile
}

// partyOf returns the party with an email address. Nothing else may be known about it.
func partyOf(email string) party { return Profile{Email: email}.party() }

func (p Profile) party() party {
	derived := uuid.NewHash(sha256.New(), uuid.NameSpaceURL, []byte("mailto:"+strings.ToLower(p.Email)), 8).String()
	return party{ID: cmp.Or(p.ID, derived), Profile: p}
}

// same reports whether two parties are the same account. The zero party equals no party.
func (p party) same(other party) bool {
	return p.Profile.Email != "" && strings.EqualFold(p.Profile.Email, other.Profile.Email)
}

// resolve returns the party with an email address. If that is the caller, it has all that is known.
func (t *txn) resolve(email string) party {
	if named := partyOf(email); !named.same(t.me) {
		return named
	}
	return t.me
}

// name returns the name of the party.
func (p party) name() string {
	return cmp.Or(
		p.Profile.DisplayName, p.Profile.EntityName,
		strings.TrimSpace(p.Profile.FirstName+" "+p.Profile.LastName), p.Profile.Email,
	)
}

func (p party) contractView() commonwire.ContractParty {
	return commonwire.ContractParty{
		ID:          p.ID,
		Email:       p.Profile.Email,
		DisplayName: p.name(),
		FirstName:   p.Profile.FirstName,
		LastName:    p.Profile.LastName,
		EntityName:  p.Profile.EntityName,
		IsBusiness:  p.Profile.IsBusiness,
		Address:     p.Profile.Address,
	}
}

func (p party) invoiceView() commonwire.InvoiceParty {
	view := commonwire.InvoiceParty{Email: p.Profile.Email, DisplayName: p.name()}
	if p.Profile.Address != nil {
		view.Address = *p.Profile.Address
	}
	return view
}

// withDetails returns the party with the name and address of a document.
func (p party) withDetails(displayName string, address commonwire.PostalAddress) party {
	p.Profile.DisplayName = cmp.Or(displayName, p.Profile.DisplayName)
	if address != (commonwire.PostalAddress{}) {
		p.Profile.Address = &address
	}
	return p
}

// Products serves the operation on products. It never changes, and is safe for concurrent use.
type Products struct {
	list []referencewire.MerchantProduct
}

// NewProducts returns the initial products, created at the given time.
func NewProducts(createdAt time.Time) *Products {
	price := func(text string) *decimal.Decimal {
		value := decimal.RequireFromString(text)
		return &value
	}
	once := 1
	p := &Products{list: []referencewire.MerchantProduct{
		{
			Name: "Day pass", Description: "Entry for one day.", Currency: "USD", Active: true,
			Price: price("12.50"), MaxQuantity: &once, Metadata: commonwire.OpenObject{"sku": "DAY-1"},
			URL: "https://shop.example.com/day-pass", WebhookURL: "https://shop.example.com/webhook",
			SuccessURL: "https://shop.example.com/thanks", CancelURL: "https://shop.example.com/cart",
			Images: []string{"https://shop.example.com/day-pass.png"},
		},
		{
			Name: "Gift card", Description: "For an amount of the buyer's choice.", Currency: "EUR", Active: true,
			MinAmount: price("5.00"), MaxAmount: price("250.00"), PresetAmount: price("25.00"),
		},
		{Name: "Early bird pass", Currency: "USD", Price: price("9.00"), SoldCount: 40},
	}}
	for i := range p.list {
		product := &p.list[i]
		product.ID = uuid.NewHash(sha256.New(), uuid.NameSpaceURL, []byte("product "+product.Name), 8).String()
		product.CreatedAt, product.UpdatedAt = createdAt, createdAt
	}
	return p
}

// List returns the products, or only those on sale.
func (p *Products) List(activeOnly bool) []referencewire.MerchantProduct {
	listed := []referencewire.MerchantProduct{}
	for _, product := range p.list {
		if product.Active || !activeOnly {
			listed = append(listed, product)
		}
	}
	return listed
}

// ListMerchantProducts implements the operation of that name. Without active_only it lists products on sale.
func (p *Products) ListMerchantProducts(
	_ context.Context, params referencewire.ListMerchantProductsParams,
) (wire.Response, error) {
	activeOnly := params.ActiveOnly == nil || *params.ActiveOnly
	return wire.OK(p.List(activeOnly)), nil
}
