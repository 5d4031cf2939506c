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

// Config is what billing needs from the host. The functions must be safe for concurrent use.
type Config struct {
	Clock    *clock.Clock
	Settings func() *deployment.Settings
	// Profile returns the account that makes a request.
	Profile func(context.Context) Profile
	// Store keeps contracts, invoices and documents.
	Store store.Store
}

// Billing serves the operations on documents, contracts and invoices. It is safe for concurrent use.
type Billing struct {
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

// New returns a Billing with the stored records.
func New(config Config) *Billing {
	s := &state{keeper: store.NewKeeper(config.Store), references: map[string]*invoice{}}
	s.documents = store.Open[document](s.keeper, "billing.document")
	s.contracts = store.Open(s.keeper, "billing.contract", func(_ string, c *contract) {
		s.contractOrder = append(s.contractOrder, c)
	})
	s.invoices = store.Open(s.keeper, "billing.invoice", func(_ string, i *invoice) {
		i.contract, i.document = s.contracts.Get(i.ContractID), s.documents.Get(i.DocumentID)
		s.enter(i)
		if i.Reference != "" {
			s.references[i.Reference] = i
		}
	})
	s.numbers = store.Open[sequence](s.keeper, "billing.number")
	return &Billing{config: config, state: s}
}

// enter adds an invoice as the latest.
func (s *state) enter(i *invoice) {
	s.invoiceOrder = append(s.invoiceOrder, i)
	if i.contract != nil {
		i.contract.invoices = append(i.contract.invoices, i)
	}
}

// Reset returns to the initial state.
func (b *Billing) Reset() {
	b.mu.Lock()
	defer b.leave()
	s := b.state
	s.documents.Clear()
	s.contracts.Clear()
	s.invoices.Clear()
	s.numbers.Clear()
	s.contractOrder, s.invoiceOrder, s.references = nil, nil, map[string]*invoice{}
}

// turn is one request's time with the state, while it holds the lock.
type turn struct {
	*state
	settings *deployment.Settings
	now      time.Time
	me       party // the caller; zero on public routes
}

// enter takes the lock for an account's request. leave releases it.
func (b *Billing) enter(ctx context.Context) *turn {
	me := b.config.Profile(ctx).party()
	t := b.enterPublic()
	t.me = me
	return t
}

// enterPublic takes the lock for a request that needs no account.
func (b *Billing) enterPublic() *turn {
	settings := b.config.Settings()
	b.mu.Lock()
	return &turn{state: b.state, settings: settings, now: b.config.Clock.Now().Truncate(precision)}
}

// precision is the precision of the host's times.
const precision = time.Millisecond

// leave stores what has changed, and releases the lock.
func (b *Billing) leave() {
	defer b.mu.Unlock()
	b.state.keeper.Commit()
}

// Records returns how many records there are.
func (b *Billing) Records() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	return s.documents.Len() + s.contracts.Len() + s.invoices.Len() + len(s.references) + s.numbers.Len()
}

// App serves the app API's operations on documents, contracts and invoices.
type App struct{ *Billing }

// UploadDocument implements the operation of that name.
func (a App) UploadDocument(ctx context.Context, body appwire.DocumentUpload) (wire.Answer, error) {
	answer, err := a.Upload(ctx, body)
	return wire.Created(answer), err
}

// ListInvoices implements the operation of that name.
func (a App) ListInvoices(ctx context.Context, params appwire.ListInvoicesParams) (wire.Answer, error) {
	return wire.OK(a.Invoices(ctx, wire.Page{Limit: params.Limit, Offset: params.Offset})), nil
}

// GetInvoice implements the operation of that name.
func (a App) GetInvoice(ctx context.Context, invoiceID string) (wire.Answer, error) {
	answer, err := a.Invoice(ctx, invoiceID)
	return wire.OK(answer), err
}

// CreateInvoice implements the operation of that name.
func (a App) CreateInvoice(ctx context.Context, body appwire.InvoiceCreate) (wire.Answer, error) {
	answer, err := a.Billing.CreateInvoice(ctx, body)
	return wire.Created(answer), err
}

// CreateUploadedInvoice implements the operation of that name.
func (a App) CreateUploadedInvoice(ctx context.Context, body appwire.UploadedInvoiceCreate) (wire.Answer, error) {
	answer, err := a.Billing.CreateUploadedInvoice(ctx, body)
	return wire.Created(answer), err
}

// CreateInvoiceFromContract implements the operation of that name.
func (a App) CreateInvoiceFromContract(
	ctx context.Context, contractID string, body appwire.ContractInvoiceCreate,
) (wire.Answer, error) {
	answer, err := a.Billing.CreateInvoiceFromContract(ctx, contractID, body)
	return wire.Created(answer), err
}

// CreateInvoiceBatch implements the operation of that name.
func (a App) CreateInvoiceBatch(ctx context.Context, body appwire.InvoiceBatch) (wire.Answer, error) {
	answer, err := a.Billing.CreateInvoiceBatch(ctx, body)
	return wire.Created(answer), err
}

// UpdateInvoice implements the operation of that name.
func (a App) UpdateInvoice(ctx context.Context, invoiceID string, body commonwire.InvoiceUpdate) (wire.Answer, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, invoiceID, body)
	return wire.OK(answer), err
}

// ListContracts implements the operation of that name.
func (a App) ListContracts(ctx context.Context, params appwire.ListContractsParams) (wire.Answer, error) {
	return wire.OK(a.Contracts(ctx, wire.Page{Limit: params.Limit, Offset: params.Offset})), nil
}

// ListContractTemplates implements the operation of that name.
func (a App) ListContractTemplates(context.Context) (wire.Answer, error) {
	return wire.OK(a.Templates()), nil
}

// GetContract implements the operation of that name.
func (a App) GetContract(ctx context.Context, contractID string) (wire.Answer, error) {
	answer, err := a.Contract(ctx, contractID)
	return wire.OK(answer), err
}

// CreateContract implements the operation of that name.
func (a App) CreateContract(ctx context.Context, body appwire.ContractCreate) (wire.Answer, error) {
	answer, err := a.Billing.CreateContract(ctx, body)
	return wire.Created(answer), err
}

// UpdateContract implements the operation of that name.
func (a App) UpdateContract(ctx context.Context, contractID string, body appwire.ContractUpdate) (wire.Answer, error) {
	answer, err := a.Billing.UpdateContract(ctx, contractID, body)
	return wire.OK(answer), err
}

// DeleteContract implements the operation of that name.
func (a App) DeleteContract(ctx context.Context, contractID string) (wire.Answer, error) {
	return wire.NoContent(), a.Billing.DeleteContract(ctx, contractID)
}

// PreviewContract implements the operation of that name.
func (a App) PreviewContract(ctx context.Context, contractID string) (wire.Answer, error) {
	answer, err := a.Preview(ctx, contractID)
	return wire.OK(answer), err
}

// PauseContract implements the operation of that name.
func (a App) PauseContract(ctx context.Context, contractID string) (wire.Answer, error) {
	answer, err := a.Billing.PauseContract(ctx, contractID)
	return wire.OK(answer), err
}

// ApproveContract implements the operation of that name.
func (a App) ApproveContract(ctx context.Context, contractID string) (wire.Answer, error) {
	answer, err := a.Billing.ApproveContract(ctx, contractID)
	return wire.OK(answer), err
}

// ReplacePaymentMethods implements the operation of that name.
func (a App) ReplacePaymentMethods(
	ctx context.Context, contractID string, body appwire.PaymentMethodsReplacement,
) (wire.Answer, error) {
	answer, err := a.Billing.ReplacePaymentMethods(ctx, contractID, body.PaymentMethods)
	return wire.OK(answer), err
}

// Public serves the public utilities' operations on invoices.
type Public struct{ *Billing }

// GetInvoice implements the operation of that name.
func (a Public) GetInvoice(_ context.Context, invoiceID string) (wire.Answer, error) {
	answer, err := a.PublicInvoice(invoiceID)
	return wire.OK(answer), err
}

// RenderInvoicePDF implements the operation of that name.
func (a Public) RenderInvoicePDF(
	_ context.Context, id string, params publicwire.RenderInvoicePDFParams,
) (wire.Answer, error) {
	file, err := a.RenderInvoice(id, params.Details)
	return wire.File("application/pdf", file), err
}

// Reference serves the reference endpoints' operations on contracts and invoices.
type Reference struct{ *Billing }

// UpdateInvoice implements the operation of that name.
func (a Reference) UpdateInvoice(
	ctx context.Context, invoiceID string, body commonwire.InvoiceUpdate,
) (wire.Answer, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, invoiceID, body)
	return wire.OK(answer), err
}

// UpdateInvoiceOnInvoicesPath implements the operation of that name.
func (a Reference) UpdateInvoiceOnInvoicesPath(
	ctx context.Context, invoiceID string, body commonwire.InvoiceUpdate,
) (wire.Answer, error) {
	answer, err := a.Billing.UpdateInvoice(ctx, invoiceID, body)
	return wire.OK(answer), err
}

// GetContract implements the operation of that name.
func (a Reference) GetContract(ctx context.Context, contractID string) (wire.Answer, error) {
	answer, err := a.Contract(ctx, contractID)
	return wire.OK(answer), err
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

// is reports whether two parties are the same account. The zero party equals no party.
func (p party) is(other party) bool {
	return p.Profile.Email != "" && strings.EqualFold(p.Profile.Email, other.Profile.Email)
}

// resolve returns the party with an email address. If that is the caller, it has all that is known.
func (t *turn) resolve(email string) party {
	if named := partyOf(email); !named.is(t.me) {
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

func (p party) onContract() commonwire.ContractParty {
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

func (p party) onInvoice() commonwire.InvoiceParty {
	view := commonwire.InvoiceParty{Email: p.Profile.Email, DisplayName: p.name()}
	if p.Profile.Address != nil {
		view.Address = *p.Profile.Address
	}
	return view
}

// renamed returns the party with the name and address of a document.
func (p party) renamed(displayName string, address commonwire.PostalAddress) party {
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
) (wire.Answer, error) {
	activeOnly := params.ActiveOnly == nil || *params.ActiveOnly
	return wire.OK(p.List(activeOnly)), nil
}
