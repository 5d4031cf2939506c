package appapi_test

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/model"
)

// exchanges are the 49 rows of the description's tables, by operation.
func exchanges() map[string]exchange {
	all := map[string]exchange{}
	for _, some := range []map[string]exchange{accountExchanges, contactExchanges, invoiceExchanges, contractExchanges,
		bankExchanges, cardExchanges, transferExchanges} {
		maps.Copy(all, some)
	}
	return all
}

var accountExchanges = map[string]exchange{
	"GetProfile": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Account.Profile(ctx) },
		"GET", "/user", "", 200, profileJSON},
	"UpdateProfile": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Account.UpdateProfile(ctx, appapi.ProfileUpdate{
			FirstName: model.Set("Ann"), LastName: model.Set("Roe"), EntityName: model.Set("Acme"),
			Address: model.Set(appapi.ProfileAddress{StreetAddress: "1 Main St", City: "Oslo", Country: "NO",
				Zip: "0150"}),
		})
	}, "PUT", "/user/kyc",
		`{"firstName":"Ann","lastName":"Roe","entityName":"Acme",` +
			`"address":{"streetAddress":"1 Main St","city":"Oslo","country":"NO","zip":"0150"}}`, 200, profileJSON},
	"CreateKYCLink": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Account.KYCLink(ctx) },
		"POST", "/user/kyc_link", "", 200, linkJSON},
	"GetKYCStatus": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Account.KYCStatus(ctx, appapi.GetKYCStatusParams{Provider: "first & best"})
	}, "GET", "/user/kyc/status?provider=first+%26+best", "", 200,
		`{"status":"a_status_of_tomorrow","provider":"first & best"}`},
	"ListBalances": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Account.Balances(ctx) },
		"GET", "/balance", "", 200,
		listOf(`{"id":"b1","currency":"USDC","available":"12.345678","walletAddress":"0x1"}`)},
	"GetMCPBalance": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Account.WalletBalance(ctx)
	},
		"GET", "/mcp/get_balance", "", 200,
		`{"walletEmail":"a@example.com","walletAddress":"0x1","usdcBalance":"12.5","remainingAllowance":"0"}`},
	"GetApp": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Account.App(ctx) },
		"GET", "/apps/me", "", 200,
		`{"userName":"Ann","userEmail":"a@example.com","appId":"app_1","appName":"Books","scopes":["transfer"],` +
			`"balance":"12.5","remainingSpendLimit":"99.5"}`},
	"UploadDocument": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Documents.Upload(ctx, appapi.DocumentUpload{Content: strings.NewReader("%PDF-1.7 ?>~"),
			Type: appapi.DocumentKindInvoice, Name: `Invoice "42"`, OriginName: "i42.pdf",
			Context: appapi.DocumentKindContract})
	}, "POST", "/documents/upload",
		`{"base64":"JVBERi0xLjcgPz5+","type":"invoice","name":"Invoice \"42\"",` +
			`"originName":"i42.pdf","context":"contract"}`, 201,
		`{"id":"` + id1 + `","name":"Invoice","key":"documents/1"}`},
	"ListTransactions": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Transactions.List(ctx,
			appapi.ListTransactionsParams{Limit: 2, Offset: 4, Type: []string{"sepa", "crypto"}, Status: "completed",
				IncomeOnly: true, BankAccountID: "bnk_1"})
	}, "GET", "/transactions?bankAccountId=bnk_1&incomeOnly=true&limit=2&offset=4&status=completed&type=sepa%2Ccrypto",
		"", 200,
		listOf(`{"id":"t1","type":"sepa","status":"completed","incoming":true,"amount":"10.25","currency":"EUR",` +
			`"bankAccountId":"bnk_1","contactId":null,"txHash":"0x2","createdAt":"2026-01-02T03:04:05Z"}`)},
}

var contactExchanges = map[string]exchange{
	"ListContacts": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contacts.List(ctx, appapi.ListContactsParams{Limit: 100, Offset: 200})
	}, "GET", "/user/contacts?limit=100&offset=200", "", 200, listOf(contactJSON)},
	"CreateContact": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contacts.Create(ctx, appapi.ContactCreate{Name: "Bob", Relationship: "external",
			Account: appapi.Onchain(model.OnchainAccount{WalletAddress: "0x1", ChainID: "base", Currency: "USDC"})})
	}, "POST", "/user/contact",
		`{"name":"Bob","relationship":"external","account":{"accountType":"onchain","walletAddress":"0x1",` +
			`"chainId":"base","currency":"USDC"}}`, 201, contactJSON},
	"UpdateContact": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contacts.Update(ctx, id1, appapi.ContactUpdate{Name: model.Set("Bobby")})
	}, "PATCH", "/user/contacts/" + id1, `{"name":"Bobby"}`, 200, contactJSON},
	"DeleteContact": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return nil, app.Contacts.Delete(ctx, id1)
	},
		"DELETE", "/user/contacts/" + id1, "", 204, ""},
	"ValidateBankDetails": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contacts.ValidateBank(ctx, appapi.BankDetails{BankType: "iban", Country: "DE", BankName: "A bank",
			IBAN: "DE00", BIC: "ABCDEFGH", RoutingNumber: model.Set("1")})
	}, "POST", "/user/contact/bank/validate",
		`{"bankType":"iban","country":"DE","bankName":"A bank","iban":"DE00","bic":"ABCDEFGH","routingNumber":"1"}`,
		200,
		`{"valid":false,"errors":[{"field":"iban","code":"checksum","message":"does not add up"}]}`},
}

var invoiceExchanges = map[string]exchange{
	"ListInvoices": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.List(ctx, appapi.ListInvoicesParams{})
	}, "GET", "/documents/contracts/invoices", "", 200, listOf(invoiceJSON)},
	"GetInvoice": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Invoices.Get(ctx, id1) },
		"GET", "/documents/contracts/invoices/" + id1, "", 200, invoiceJSON},
	"CreateInvoice": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.Create(ctx, appapi.InvoiceCreate{
			Currency: model.InvoiceCurrencyUSD, ContractorEmail: "c@example.com", ContractorDisplayName: "C",
			ClientEmail: "d@example.com", ClientDisplayName: "D",
			ClientAddress: model.PostalAddress{City: "Oslo"}, Items: lines(), InvoicePrefix: "INV",
			Onchain: pointer(false), DueDate: model.Date{Year: 2026, Month: 2, Day: 1},
		})
	}, "POST", "/documents/contracts/invoices",
		`{"currency":"USD","contractorEmail":"c@example.com","contractorDisplayName":"C",` +
			`"clientEmail":"d@example.com","clientDisplayName":"D","clientAddress":{"city":"Oslo"},"items":` + linesJSON + `,"invoicePrefix":"INV","onchain":false,"dueDate":"2026-02-01"}`, 201, invoiceJSON},
	"CreateUploadedInvoice": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.CreateUploaded(ctx, appapi.UploadedInvoiceCreate{DocumentID: id2, Amount: price("10"),
			Currency: model.InvoiceCurrencyUSDC})
	}, "POST", "/documents/contracts/invoices/uploaded", `{"documentId":"` + id2 + `","amount":"10","currency":"USDC"}`,
		201, invoiceJSON},
	"UpdateInvoice": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.Update(ctx, id1, model.InvoiceUpdate{Status: model.InvoiceStatusCancelled})
	}, "PUT", "/documents/contracts/invoices/" + id1, `{"status":"cancelled"}`, 200, invoiceJSON},
	"UpdateInvoice paid offline, now": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.MarkPaid(ctx, id1, appapi.InvoicePayment{})
	}, "PUT", "/documents/contracts/invoices/" + id1, `{"status":"paid"}`, 200, invoiceJSON},
	"UpdateInvoice paid by a transaction, earlier": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.MarkPaid(ctx, id1,
			appapi.InvoicePayment{Reference: "ref-1", At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	}, "PUT", "/documents/contracts/invoices/" + id1,
		`{"status":"paid","onchainTransactionId":"ref-1","paidAt":"2026-01-01T00:00:00Z"}`, 200, invoiceJSON},
	"CreateInvoiceFromContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.CreateFromContract(ctx, id2, appapi.ContractInvoiceCreate{
			ContractorAddress: model.PostalAddress{Zip: "1"}, InvoicePrefix: "INV",
			PeriodStart: model.Date{Year: 2026, Month: 1, Day: 1}, AddItems: lines(),
		})
	}, "POST", "/documents/contracts/" + id2 + "/create-invoice",
		`{"contractorAddress":{"zip":"1"},"invoicePrefix":"INV","periodStart":"2026-01-01","addItems":` + linesJSON +
			`}`, 201, invoiceJSON},
	"CreateInvoiceBatch": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Invoices.CreateBatch(ctx,
			appapi.InvoiceBatch{{ContractID: id1, Period: 1, Memo: "January", Items: lines()}, {ContractID: id2}})
	}, "POST", "/documents/contracts/invoices/batch_invoicing",
		`[{"contractId":"` + id1 + `","period":1,"memo":"January","items":` + linesJSON + `},{"contractId":"` + id2 +
			`"}]`, 201,
		`{"items":[` + invoiceJSON + `,` + invoiceJSON + `],"total":2}`},
}

var contractExchanges = map[string]exchange{
	"ListContracts": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.List(ctx, appapi.ListContractsParams{Limit: 1})
	}, "GET", "/documents/contracts?limit=1", "", 200, listOf(contractJSON)},
	"GetContract": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Contracts.Get(ctx, id1) },
		"GET", "/documents/contracts/" + id1, "", 200, contractJSON},
	"PreviewContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.Preview(ctx, id1)
	},
		"GET", "/documents/contracts/" + id1 + "/preview", "", 200,
		`{"fields":{"jobTitle":"Designer"},"text":"Agreement"}`},
	"ListContractTemplates": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.Templates(ctx)
	},
		"GET", "/documents/contracts/templates", "", 200,
		listOf(`{"id":"t1","name":"Service","type":"service","fields":["jobTitle"]}`)},
	"CreateContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.Create(ctx, appapi.ContractCreate{
			ContractorEmail: "c@example.com", Type: model.ContractTypeService, Period: "monthly", Label: "L",
			RequireSignature: pointer(true),
			Fields: appapi.ContractFields{Amount: price("3000"), Currency: model.FiatCurrencyEUR,
				JobTitle: "Designer", ScopeDescription: "All"},
			ActivationAt:    time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			PriorityMethods: []model.PriorityMethod{model.PriorityMethodSWIFTUSD},
		})
	}, "POST", "/documents/contracts",
		`{"contractorEmail":"c@example.com","type":"service","period":"monthly","label":"L","requireSignature":true,` +
			`"fields":{"amount":"3000","currency":"EUR","jobTitle":"Designer","scopeDescription":"All"},` +
			`"activationAt":"2026-01-01T00:00:00Z","priorityMethods":["swift-usd"]}`, 201, contractJSON},
	"UpdateContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.Update(ctx, id1,
			appapi.ContractUpdate{Fields: appapi.ContractFieldsUpdate{JobTitle: model.Set("Lead")},
				ExpirationAt: model.Set(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))})
	}, "PATCH", "/documents/contracts/" + id1, `{"fields":{"jobTitle":"Lead"},"expirationAt":"2027-01-01T00:00:00Z"}`,
		200, contractJSON},
	"PauseContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.Pause(ctx, id1)
	},
		"POST", "/documents/contracts/" + id1 + "/pause", "", 200, contractJSON},
	"ApproveContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.Approve(ctx, id1)
	},
		"POST", "/documents/contracts/" + id1 + "/approve", "", 200, contractJSON},
	"ReplacePaymentMethods": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.ReplacePaymentMethods(ctx, id1, []model.PaymentMethod{
			model.NewPaymentMethod(model.SEPAPaymentMethod{IBANNumber: "DE89370400440532013000",
				BankAddress: model.InstitutionAddress{City: "Bonn"}}),
			model.NewPaymentMethod(model.PIXPaymentMethod{PIXKey: "k"}),
		})
	}, "PUT", "/documents/contracts/" + id1 + "/payment_methods",
		`{"paymentMethods":[{"accountType":"sepa","ibanNumber":"DE89370400440532013000",` +
			`"bankAddress":{"city":"Bonn"}},{"accountType":"pix","pixKey":"k"}]}`, 200, contractJSON},
	"ReplacePaymentMethods by none": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Contracts.ReplacePaymentMethods(ctx, id1, nil)
	}, "PUT", "/documents/contracts/" + id1 + "/payment_methods", `{"paymentMethods":[]}`, 200, contractJSON},
	"DeleteContract": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return nil, app.Contracts.Delete(ctx, id1)
	},
		"DELETE", "/documents/contracts/" + id1, "", 204, ""},
}
