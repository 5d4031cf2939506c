package contrary_test

import (
	"github.com/moneymovement/moneymovement-go/dapi"
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
