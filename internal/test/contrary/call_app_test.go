package contrary_test

import (
	"encoding/base64"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/model"
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
