package contrary_test

import (
	"context"
	"encoding/base64"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
)

var platformCalls = map[string]func(*call) (any, error){
	"dapi CreateClient": func(c *call) (any, error) {
		return c.platform.Clients.Create(c.Context(), as[dapi.ClientCreate](c, c.body), c.options()...)
	},
	"dapi GetClient": func(c *call) (any, error) {
		return c.platform.Clients.Get(c.Context(), dapi.ClientID(c.path["clientId"]), c.options()...)
	},
	"dapi GetKYB": func(c *call) (any, error) { return c.acme.Verification.Get(c.Context(), c.options()...) },
	"dapi SaveKYB": func(c *call) (any, error) {
		return c.acme.Verification.Save(c.Context(), as[dapi.KYBInformation](c, c.body), c.options()...)
	},
	"dapi CompleteKYB": func(c *call) (any, error) { return c.acme.Verification.Complete(c.Context(), c.options()...) },
	"dapi ListRails": func(c *call) (any, error) {
		return c.acme.Rails.List(c.Context(), as[dapi.ListRailsParams](c, c.query), c.options()...)
	},
	"dapi OpenRail": func(c *call) (any, error) {
		return c.acme.Rails.Open(c.Context(), as[dapi.RailCreate](c, c.body), c.options()...)
	},
	"dapi CreatePayin": func(c *call) (any, error) {
		return c.acme.Payins.Create(c.Context(), as[dapi.PayinCreate](c, c.body), c.options()...)
	},
	"dapi GetPayin": func(c *call) (any, error) {
		return c.acme.Payins.Get(c.Context(), dapi.PayinID(c.path["payinId"]), c.options()...)
	},
	"dapi CreatePayinInstructions": func(c *call) (any, error) {
		return c.acme.Payins.Instructions(c.Context(), dapi.PayinID(c.path["payinId"]), c.options()...)
	},
	"dapi CreateContact": func(c *call) (any, error) {
		return c.acme.Contacts.Create(c.Context(), as[dapi.ContactCreate](c, c.body), c.options()...)
	},
	"dapi UpdateContact": func(c *call) (any, error) {
		return c.acme.Contacts.Update(c.Context(), dapi.ContactID(c.path["contactId"]),
			as[dapi.ContactUpdate](c, c.body), c.options()...)
	},
	"dapi DeleteContact": func(c *call) (any, error) {
		return nil, c.acme.Contacts.Delete(c.Context(), dapi.ContactID(c.path["contactId"]), c.options()...)
	},
	"dapi GetContactCapabilities": func(c *call) (any, error) {
		return c.acme.Contacts.Capabilities(c.Context(), dapi.ContactID(c.path["contactId"]), c.options()...)
	},
	"dapi ListChains": func(c *call) (any, error) {
		return c.acme.Chains.List(c.Context(), as[dapi.ListChainsParams](c, c.query), c.options()...)
	},
	"dapi ListTransactions": func(c *call) (any, error) {
		return c.acme.Transactions.List(c.Context(), as[dapi.ListTransactionsParams](c, c.query), c.options()...)
	},
	"dapi GetTreasury": func(c *call) (any, error) { return c.acme.Sandbox.Treasury(c.Context(), c.options()...) },
}

var moneyCalls = map[string]func(*call) (any, error){
	"dapi BookPayout": func(c *call) (any, error) {
		return c.acme.Payouts.Book(c.Context(), as[dapi.PayoutCreate](c, c.body),
			c.keyed()...)
	},
	"dapi GetPayout": func(c *call) (any, error) {
		return c.acme.Payouts.Get(c.Context(), dapi.PayoutID(c.path["payoutId"]), c.options()...)
	},
	"dapi ConfirmPayout": func(c *call) (any, error) {
		asked, booked := c.booking()
		return c.acme.Payouts.Confirm(c.Context(), asked, booked, c.options()...)
	},
	"dapi CreateEscrow": func(c *call) (any, error) {
		return c.acme.Escrows.Create(c.Context(), as[dapi.EscrowCreate](c, c.body),
			c.keyed()...)
	},
	"dapi PrepareEscrowAction": func(c *call) (any, error) {
		kind := dapi.EscrowActionType(text(c.body, "type"))
		return c.acme.Escrows.Prepare(c.Context(), dapi.EscrowID(c.path["escrowId"]), kind,
			c.keyed()...)
	},
	"dapi ConfirmEscrowAction": func(c *call) (any, error) {
		terms := dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC, Payee: payee}
		prepared := &dapi.EscrowAction{IdempotencyKey: sampleKey, Type: dapi.EscrowActionTypeRelease,
			Approval: approval()}
		return c.acme.Escrows.Confirm(c.Context(), terms, "esc_1", dapi.EscrowActionTypeRelease, prepared,
			c.options()...)
	},
	"dapi SyncEscrow": func(c *call) (any, error) {
		return c.acme.Escrows.Sync(c.Context(), dapi.EscrowID(c.path["escrowId"]), c.options()...)
	},
	"dapi CreateDeposit": func(c *call) (any, error) {
		return c.acme.Sandbox.Deposit(c.Context(), as[dapi.DepositCreate](c, c.body),
			c.keyed()...)
	},
	"dapi CompletePayin": func(c *call) (any, error) {
		return c.acme.Sandbox.CompletePayin(c.Context(), dapi.PayinID(c.path["payinId"]),
			c.keyed()...)
	},
	"dapi MovePayout": func(c *call) (any, error) {
		status := dapi.PayoutStatus(text(c.body, "status"))
		return c.acme.Sandbox.SetPayoutStatus(c.Context(), dapi.PayoutID(c.path["payoutId"]), status,
			c.keyed()...)
	},
}

const (
	sampleKey = "key-1"
	payee     = "0x52908400098527886E0F7030069857D2E4169EE7"
)

var appCalls = map[string]func(*call) (any, error){
	"appapi GetProfile": func(c *call) (any, error) { return c.app.Account.Profile(c.Context(), c.options()...) },
	"appapi UpdateProfile": func(c *call) (any, error) {
		return c.app.Account.UpdateProfile(c.Context(), as[appapi.ProfileUpdate](c, c.body), c.options()...)
	},
	"appapi CreateKYCLink": func(c *call) (any, error) { return c.app.Account.KYCLink(c.Context(), c.options()...) },
	"appapi GetKYCStatus": func(c *call) (any, error) {
		return c.app.Account.KYCStatus(c.Context(), as[appapi.GetKYCStatusParams](c, c.query), c.options()...)
	},
	"appapi ListBalances": func(c *call) (any, error) { return c.app.Account.Balances(c.Context(), c.options()...) },
	"appapi GetMCPBalance": func(c *call) (any, error) {
		return c.app.Account.WalletBalance(c.Context(), c.options()...)
	},
	"appapi GetApp": func(c *call) (any, error) { return c.app.Account.App(c.Context(), c.options()...) },
	"appapi ListContacts": func(c *call) (any, error) {
		return c.app.Contacts.List(c.Context(), as[appapi.ListContactsParams](c, c.query), c.options()...)
	},
	"appapi CreateContact": func(c *call) (any, error) {
		return c.app.Contacts.Create(c.Context(), as[appapi.ContactCreate](c, c.body), c.options()...)
	},
	"appapi UpdateContact": func(c *call) (any, error) {
		return c.app.Contacts.Update(c.Context(), c.path["contact_id"], as[appapi.ContactUpdate](c, c.body),
			c.options()...)
	},
	"appapi DeleteContact": func(c *call) (any, error) {
		return nil, c.app.Contacts.Delete(c.Context(), c.path["contact_id"], c.options()...)
	},
	"appapi ValidateBankDetails": func(c *call) (any, error) {
		return c.app.Contacts.ValidateBank(c.Context(), as[appapi.BankDetails](c, c.body), c.options()...)
	},
	"appapi ListTransactions": func(c *call) (any, error) {
		return c.app.Transactions.List(c.Context(), as[appapi.ListTransactionsParams](c, c.query), c.options()...)
	},
	"appapi ListBanks": func(c *call) (any, error) { return c.app.Banks.List(c.Context(), c.options()...) },
	"appapi ActivateBanks": func(c *call) (any, error) {
		return c.app.Banks.Activate(c.Context(), as[[]string](c, member(c.body, "methods")), c.options()...)
	},
	"appapi QuoteBalancePayin": func(c *call) (any, error) {
		return c.app.Quotes.PayinFromChain(c.Context(), as[appapi.BalancePayinQuote](c, c.body), c.options()...)
	},
	"appapi QuoteBankPayin": func(c *call) (any, error) {
		return c.app.Quotes.PayinFromBank(c.Context(), as[appapi.BankPayinQuote](c, c.body), c.options()...)
	},
	"appapi SubmitBankPayinQuote": func(c *call) (any, error) {
		return c.app.Quotes.SubmitPayin(c.Context(), text(c.body, "quoteId"), c.options()...)
	},
	"appapi QuoteBalancePayout": func(c *call) (any, error) {
		return c.app.Quotes.Payout(c.Context(), as[appapi.BalancePayoutQuote](c, c.body), c.options()...)
	},
	"appapi ListCards": func(c *call) (any, error) { return c.app.Cards.List(c.Context(), c.options()...) },
	"appapi CreateCard": func(c *call) (any, error) {
		return c.app.Cards.Create(c.Context(), as[appapi.CardCreate](c, c.body), c.options()...)
	},
	"appapi GetCard": func(c *call) (any, error) {
		return c.app.Cards.Get(c.Context(), c.path["card_id"], c.options()...)
	},
	"appapi RevealCardDetails": func(c *call) (any, error) {
		return c.app.Cards.DetailsWithProof(c.Context(), c.path["card_id"], as[model.CardDetailsProof](c, c.body),
			c.options()...)
	},
	"appapi SetCardLabel": func(c *call) (any, error) {
		return c.app.Cards.SetLabel(c.Context(), c.path["card_id"], text(c.body, "label"), c.options()...)
	},
	"appapi SetCardLimit": func(c *call) (any, error) {
		return c.app.Cards.SetLimit(c.Context(), c.path["card_id"], as[appapi.CardLimitUpdate](c, c.body),
			c.options()...)
	},
	"appapi FreezeCard": func(c *call) (any, error) {
		return c.app.Cards.Freeze(c.Context(), c.path["card_id"], c.options()...)
	},
	"appapi UnfreezeCard": func(c *call) (any, error) {
		return c.app.Cards.Unfreeze(c.Context(), c.path["card_id"], c.options()...)
	},
	"appapi CreateCardKYCLink": func(c *call) (any, error) { return c.app.Cards.KYCLink(c.Context(), c.options()...) },
	"appapi PreApproveCard": func(c *call) (any, error) {
		return c.app.Cards.PreApprove(c.Context(), as[appapi.CardPreApprovalCreate](c, c.body), c.options()...)
	},
	"appapi CreateTransfer": func(c *call) (any, error) {
		asked := as[struct {
			ContactID string       `json:"contactId"`
			Amount    model.Number `json:"amount"`
			Memo      string       `json:"memo"`
		}](c, c.body)
		return c.app.Transfers.Send(c.Context(),
			appapi.ToContact{ContactID: asked.ContactID, Amount: asked.Amount.Decimal, Memo: asked.Memo}, sampleKey,
			c.options()...)
	},
	"appapi ListTransfers": func(c *call) (any, error) {
		return c.app.Transfers.List(c.Context(), as[appapi.ListTransfersParams](c, c.query), c.options()...)
	},
}

// paperCalls are about documents, invoices and contracts.
var paperCalls = map[string]func(*call) (any, error){
	"appapi UploadDocument": func(c *call) (any, error) {
		content, err := base64.StdEncoding.DecodeString(text(c.body, "base64"))
		require.NoError(c, err)
		about := as[appapi.DocumentUpload](c, put(c.body, pointer{"base64"}, nil, false))
		about.Content = strings.NewReader(string(content))
		return c.app.Documents.Upload(c.Context(), about, c.options()...)
	},
	"appapi ListInvoices": func(c *call) (any, error) {
		return c.app.Invoices.List(c.Context(), as[appapi.ListInvoicesParams](c, c.query), c.options()...)
	},
	"appapi CreateInvoice": func(c *call) (any, error) {
		return c.app.Invoices.Create(c.Context(), as[appapi.InvoiceCreate](c, c.body), c.options()...)
	},
	"appapi GetInvoice": func(c *call) (any, error) {
		return c.app.Invoices.Get(c.Context(), c.path["invoice_id"], c.options()...)
	},
	"appapi UpdateInvoice": func(c *call) (any, error) {
		return c.app.Invoices.Update(c.Context(), c.path["invoice_id"], as[model.InvoiceUpdate](c, c.body),
			c.options()...)
	},
	"appapi CreateUploadedInvoice": func(c *call) (any, error) {
		return c.app.Invoices.CreateUploaded(c.Context(), as[appapi.UploadedInvoiceCreate](c, c.body), c.options()...)
	},
	"appapi CreateInvoiceFromContract": func(c *call) (any, error) {
		return c.app.Invoices.CreateFromContract(c.Context(), c.path["contract_id"],
			as[appapi.ContractInvoiceCreate](c, c.body), c.options()...)
	},
	"appapi CreateInvoiceBatch": func(c *call) (any, error) {
		return c.app.Invoices.CreateBatch(c.Context(), as[appapi.InvoiceBatch](c, c.body), c.options()...)
	},
	"appapi ListContracts": func(c *call) (any, error) {
		return c.app.Contracts.List(c.Context(), as[appapi.ListContractsParams](c, c.query), c.options()...)
	},
	"appapi CreateContract": func(c *call) (any, error) {
		return c.app.Contracts.Create(c.Context(), as[appapi.ContractCreate](c, c.body), c.options()...)
	},
	"appapi ListContractTemplates": func(c *call) (any, error) {
		return c.app.Contracts.Templates(c.Context(), c.options()...)
	},
	"appapi GetContract": func(c *call) (any, error) {
		return c.app.Contracts.Get(c.Context(), c.path["contract_id"], c.options()...)
	},
	"appapi UpdateContract": func(c *call) (any, error) {
		return c.app.Contracts.Update(c.Context(), c.path["contract_id"], as[appapi.ContractUpdate](c, c.body),
			c.options()...)
	},
	"appapi DeleteContract": func(c *call) (any, error) {
		return nil, c.app.Contracts.Delete(c.Context(), c.path["contract_id"], c.options()...)
	},
	"appapi PreviewContract": func(c *call) (any, error) {
		return c.app.Contracts.Preview(c.Context(), c.path["contract_id"], c.options()...)
	},
	"appapi PauseContract": func(c *call) (any, error) {
		return c.app.Contracts.Pause(c.Context(), c.path["contract_id"], c.options()...)
	},
	"appapi ApproveContract": func(c *call) (any, error) {
		return c.app.Contracts.Approve(c.Context(), c.path["contract_id"], c.options()...)
	},
	"appapi ReplacePaymentMethods": func(c *call) (any, error) {
		methods := as[[]model.PaymentMethod](c, member(c.body, "paymentMethods"))
		return c.app.Contracts.ReplacePaymentMethods(c.Context(), c.path["contract_id"], methods, c.options()...)
	},
}

// otherCalls are the reference endpoints and the public utilities.
var otherCalls = map[string]func(*call) (any, error){
	"refapi UpdateInvoice": func(c *call) (any, error) {
		return c.reference.Invoices.Update(c.Context(), c.path["invoice_id"], as[model.InvoiceUpdate](c, c.body),
			c.options()...)
	},
	"refapi UpdateInvoiceOnInvoicesPath": func(c *call) (any, error) {
		return c.reference.Invoices.UpdateOnInvoicesPath(c.Context(), c.path["invoice_id"],
			as[model.InvoiceUpdate](c, c.body), c.options()...)
	},
	"refapi GetContract": func(c *call) (any, error) {
		return c.reference.Contracts.Get(c.Context(), c.path["contract_id"], c.options()...)
	},
	"refapi ListMerchantProducts": func(c *call) (any, error) {
		return c.reference.Products.List(c.Context(), as[refapi.ListMerchantProductsParams](c, c.query), c.options()...)
	},
	"refapi ListCards": func(c *call) (any, error) { return c.reference.Cards.List(c.Context(), c.options()...) },
	"refapi RevealCardDetails": func(c *call) (any, error) {
		return c.reference.Cards.DetailsWithProof(c.Context(), c.path["card_id"], as[model.CardDetailsProof](c, c.body),
			c.options()...)
	},
	"refapi GetTransactionStatus": func(c *call) (any, error) {
		return c.reference.Quotes.Status(c.Context(), c.path["quote_id"], c.options()...)
	},
	"refapi LogInWallet": func(c *call) (any, error) {
		return c.reference.Wallet.LogIn(c.Context(), as[refapi.WalletLogin](c, c.body),
			as[refapi.LogInWalletParams](c, c.header), c.options()...)
	},
	"refapi ReceiveWebhook": func(c *call) (any, error) {
		ok, err := c.reference.Webhooks.Send(c.Context(), c.path["partner"], as[refapi.WebhookEvent](c, c.body),
			c.options()...)
		return map[string]any{"ok": ok}, err
	},
	"public GetRate": func(c *call) (any, error) {
		return c.public.Rates.Get(c.Context(), c.path["currency"], c.options()...)
	},
	"public GetInvoice": func(c *call) (any, error) {
		return c.public.Invoices.Get(c.Context(), c.path["invoice_id"], c.options()...)
	},
	"public RenderInvoicePDF": func(c *call) (any, error) {
		copied, err := c.public.Invoices.PDF(c.Context(), c.path["id"], as[public.RenderInvoicePDFParams](c, c.query),
			c.options()...)
		if err != nil {
			return nil, err
		}
		defer copied.Close()
		content, err := io.ReadAll(copied)
		return map[string]any{"content": string(content)}, err
	},
}

// loginCalls are made by the SDK itself, before the first call that needs a session. What they bring is what is kept of
// them: the session.
var loginCalls = map[string]func(*call) (any, error){
	"dapi CreateChallenge": func(c *call) (any, error) { return c.logIn(dapi.Session{}) },
	"dapi CreateToken":     func(c *call) (any, error) { return c.logIn(dapi.Session{}) },
	"dapi RefreshToken":    func(c *call) (any, error) { return c.logIn(sessionFor(-time.Minute)) },
}

func isLogin(o *wire.Operation) bool { return loginCalls[o.Name()] != nil }

// memoryStore is a store in memory.
type memoryStore struct {
	mu      sync.Mutex
	session dapi.Session
}

func (k *memoryStore) Load(context.Context) (dapi.Session, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.session, nil
}

func (k *memoryStore) Save(_ context.Context, session dapi.Session) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session = session
	return nil
}

// logIn makes a call of a client that begins with a session.
func (c *call) logIn(first dapi.Session) (any, error) {
	c.Helper()
	store := &memoryStore{session: first}
	_, err := c.logsIn(store).Self().Chains.List(c.Context(), dapi.ListChainsParams{})
	return map[string]any{"accessToken": store.session.AccessToken.Reveal(),
		"refreshToken": store.session.RefreshToken.Reveal()}, err
}
