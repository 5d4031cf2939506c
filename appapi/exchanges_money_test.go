package appapi_test

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/model"
)

var bankExchanges = map[string]exchange{
	"ListBanks": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Banks.List(ctx) },
		"GET", "/banks", "", 200, bankListJSON},
	"ActivateBanks": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Banks.Activate(ctx, []string{"sepa", "ach"})
	}, "POST", "/banks/activate", `{"methods":["sepa","ach"]}`, 200, bankListJSON},
	"ActivateBanks all": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Banks.Activate(ctx, nil)
	},
		"POST", "/banks/activate", `{}`, 200, bankListJSON},
	"QuoteBalancePayin": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Quotes.PayinFromChain(ctx, appapi.BalancePayinQuote{Amount: price("100"), Currency: "USDC",
			OriginChainID: 1})
	}, "POST", "/balance/payin/quote", `{"amount":"100","currency":"USDC","originChainId":1}`, 200, quoteJSON},
	"QuoteBankPayin": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Quotes.PayinFromBank(ctx, appapi.BankPayinQuote{Amount: price("100.10"), BankAccountID: "bnk_1",
			Memo: "m"})
	}, "POST", "/banks/payin/quote", `{"amount":"100.1","bankAccountId":"bnk_1","memo":"m"}`, 200, quoteJSON},
	"SubmitBankPayinQuote": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Quotes.SubmitPayin(ctx, "q_1")
	},
		"POST", "/banks/payin/quote/submit", `{"quoteId":"q_1"}`, 200, statusJSON},
	"QuoteBalancePayout": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Quotes.Payout(ctx, appapi.BalancePayoutQuote{ContactID: id1, Amount: price("100"),
			BankAccountID: "bnk_1"})
	}, "POST", "/balance/payout/quote", `{"contactId":"` + id1 + `","amount":"100","bankAccountId":"bnk_1"}`, 200,
		quoteJSON},
}

var cardExchanges = map[string]exchange{
	"ListCards": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Cards.List(ctx) },
		"GET", "/cards", "", 200,
		`{"cards":[` + cardJSON + `],"total":1,"created":true,"kycStatus":"approved","phoneVerified":true}`},
	"CreateCard": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Cards.Create(ctx, appapi.CardCreate{Format: appapi.CardFormatVirtual})
	}, "POST", "/cards", `{"format":"virtual"}`, 201, cardJSON},
	"GetCard": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Cards.Get(ctx, "card_1") },
		"GET", "/cards/card_1", "", 200, cardJSON},
	"RevealCardDetails": {func(ctx context.Context, app *appapi.Client) (any, error) {
		details, err := app.Cards.DetailsWithProof(ctx, "card_1",
			model.CardDetailsProof{MessageSignature: moneymovement.NewSecret("0x1"), Nonce: 1767323045})
		if err != nil {
			return nil, err
		}
		return map[string]string{"cardNumber": details.CardNumber.Reveal(), "cvv": details.CVV.Reveal(),
			"expiryDate": details.ExpiryDate.Reveal()}, nil
	}, "POST", "/cards/card_1/details", `{"messageSignature":"0x1","nonce":1767323045}`, 200,
		`{"cardNumber":"4242424242424242","cvv":"123","expiryDate":"12/29"}`},
	"SetCardLabel": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Cards.SetLabel(ctx, "card_1", "Travel")
	}, "PUT", "/cards/card_1/label", `{"label":"Travel"}`, 200, cardJSON},
	"SetCardLimit": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Cards.SetLimit(ctx, "card_1", appapi.CardLimitUpdate{DailyLimit: model.Set(number("100.25"))})
	}, "PUT", "/cards/card_1/limit", `{"dailyLimit":100.25}`, 200, cardJSON},
	"FreezeCard": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Cards.Freeze(ctx, "card_1")
	},
		"POST", "/cards/card_1/freeze", "", 200, cardJSON},
	"UnfreezeCard": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Cards.Unfreeze(ctx, "card_1")
	},
		"POST", "/cards/card_1/unfreeze", "", 200, cardJSON},
	"CreateCardKYCLink": {func(ctx context.Context, app *appapi.Client) (any, error) { return app.Cards.KYCLink(ctx) },
		"POST", "/cards/kyc/link", "", 200, linkJSON},
	"PreApproveCard": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Cards.PreApprove(ctx, appapi.CardPreApprovalCreate{Amount: price("500"), Currency: "USDC"})
	}, "POST", "/cards/pre-approve", `{"amount":"500","currency":"USDC"}`, 200, `{"approved":true,"txHash":"0x1"}`},
}

var transferExchanges = map[string]exchange{
	"CreateTransfer to a contact": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Transfers.Send(ctx, appapi.ToContact{ContactID: id1, Amount: price("0.100000000000000001"),
			Memo: "rent"}, "rent-1")
	}, "POST", "/apps/transfer", `{"contactId":"` + id1 + `","amount":0.100000000000000001,"memo":"rent"}`, 200,
		`{"txHash":"0xabc"}`},
	"CreateTransfer for a quote": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Transfers.Send(ctx, appapi.ToQuote{QuoteID: "q_1"}, "quote-1")
	}, "POST", "/apps/transfer", `{"quoteId":"q_1"}`, 200, `{"txHash":"0xabc"}`},
	"CreateTransfer": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Transfers.Send(ctx, appapi.ToInvoice{InvoiceID: id2, Memo: "m"}, "invoice-42")
	}, "POST", "/apps/transfer", `{"invoiceId":"` + id2 + `","memo":"m"}`, 200, `{"txHash":"0xabc"}`},
	"ListTransfers": {func(ctx context.Context, app *appapi.Client) (any, error) {
		return app.Transfers.List(ctx, appapi.ListTransfersParams{Limit: 3, Offset: 6, IdempotencyKey: "rent-1"})
	}, "GET", "/apps/transfers?idempotency_key=rent-1&limit=3&offset=6", "", 200,
		listOf(`{"id":"tr_1","contactId":"` + id1 +
			`","amount":25.5,"memo":"rent","txHash":"0xabc","status":"completed","idempotencyKey":"rent-1",` +
			`"createdAt":"2026-01-02T03:04:05Z"}`)},
}
