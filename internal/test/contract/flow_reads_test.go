package contract_test

import (
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/survey"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// referenceEndpoints read what the app API made.
func (w *world) referenceEndpoints() {
	reference := w.reference
	w.step("cards", func() { ok(reference.Cards.List(w.Context()))(w) })
	w.step("products", func() {
		ok(reference.Products.List(w.Context(), refapi.ListMerchantProductsParams{ActiveOnly: new(false)}))(w)
	})
	w.step("contract", func() {
		w.needs(w.contract != "", "a contract of the app API")
		assert.Equal(w, w.contract, ok(reference.Contracts.Get(w.Context(), w.contract))(w).ID)
	})
	w.step("invoice, on both paths", func() {
		w.needs(w.invoice != "", "an invoice of the app API")
		paid := model.InvoiceUpdate{Status: model.InvoiceStatusPaid,
			OnchainTransactionID: model.Set(w.unique("reference")), PaidAt: model.Set(time.Now().Add(-time.Hour))}
		ok(reference.Invoices.Update(w.Context(), w.invoice, paid))(w)
		ok(reference.Invoices.UpdateOnInvoicesPath(w.Context(), w.invoice, paid))(w)
	})
	w.step("an invoice update by hand", func() {
		w.needs(w.invoice != "", "an invoice of the app API")
		for _, x := range w.suite.log.Exchanges() {
			if x.Name() == "refapi UpdateInvoice" && x.Accepted() {
				refused := w.deliver(x.Again(w.Context(), report.Change{Body: []byte(`{"status":"lost"}`)}))
				assert.Equal(w, http.StatusUnprocessableEntity, refused.Status)
				paidNow := w.deliver(x.Again(w.Context(),
					report.Change{Body: []byte(`{"status":"paid","paidAt":null}`)}))
				assert.Equal(w, http.StatusOK, paidNow.Status)
				return
			}
		}
	})
	w.step("status of a quote", func() {
		w.needs(w.quote != "", "a quote of the app API")
		assert.Equal(w, w.quote, ok(reference.Quotes.Status(w.Context(), w.quote))(w).QuoteID)
	})
	w.step("card details", func() {
		w.needs(w.wallet != nil && w.card != "", "a card and its wallet")
		w.pass() // a nonce is used once, on whichever surface
		assert.NotEmpty(w, ok(reference.Cards.Details(w.Context(), w.card, w.wallet))(w).CardNumber)
	})
	w.embedded("wallet login", func() { // may send an operation on chain
		signature, err := w.wallet.SignMessage(w.Context(), []byte("Log in"))
		require.NoError(w, err)
		ok(reference.Wallet.LogIn(w.Context(),
			refapi.WalletLogin{Message: "Log in",
				Signatures: []moneymovement.Secret{moneymovement.NewSecret(signature)}},
			refapi.LogInWalletParams{DeviceID: "contract-suite"}))(w)
	})
	w.embedded("a partner's webhook", func() { // is somebody else's to send
		assert.True(w, ok(reference.Webhooks.Send(w.Context(), "partner", refapi.WebhookEvent{
			EventType: "payment.completed", EntityID: "1", EntityType: "invoice", CreatedAt: w.host.Now().
					Format(time.RFC3339),
			EventPayload: model.OpenObject{"state": "done"},
		}))(w))
	})
}

func (w *world) publicUtilities() {
	w.step("rates", func() { assert.True(w, ok(w.public.Rates.Get(w.Context(), "EUR"))(w).USDRate.IsPositive()) })
	w.step("an invoice, and its copy", func() {
		w.needs(w.invoice != "", "an invoice of the app API")
		ok(w.public.Invoices.Get(w.Context(), w.invoice))(w)
		pdf := ok(w.public.Invoices.PDF(w.Context(), w.invoice, public.RenderInvoicePDFParams{}))(w)
		defer pdf.Close()
		start := make([]byte, 5)
		_, err := io.ReadFull(pdf, start)
		require.NoError(w, err)
		assert.Equal(w, "%PDF-", string(start))
	})
}

// spared are the operations that move money, bind somebody, or have the narrow windows of logins, so that no request to
// them is made up for a real host.
var spared = []string{
	"dapi CreateChallenge", "dapi CreateToken",
	"dapi BookPayout", "dapi ConfirmPayout", "dapi CreateEscrow", "dapi PrepareEscrowAction",
	"dapi ConfirmEscrowAction", "dapi CreateDeposit", "dapi CompletePayin", "dapi MovePayout",
	"dapi CreateClient", "dapi SaveKYB", "dapi CompleteKYB", "dapi OpenRail",
	"appapi UpdateProfile", "appapi ActivateBanks", "appapi SubmitBankPayinQuote", "appapi CreateCard",
	"appapi PreApproveCard", "appapi CreateTransfer",
	"refapi LogInWallet", "refapi ReceiveWebhook",
}

func (w *world) mayProbe(x *report.Exchange) bool {
	return w.host != nil || !slices.Contains(spared, x.Name())
}

// again makes a recorded request once more; the platform's with the token of a new session, for the first one's may
// have expired.
func (w *world) again() func(*report.Exchange, report.Change) reply {
	reader := w.reader()
	return func(x *report.Exchange, change report.Change) reply {
		return w.came(reader.Again(w.Context(), x, change))
	}
}

// reader reads everything that there is, and writes nothing: the part of the suite that moneymove check runs.
func (w *world) reader() *survey.Survey {
	session := w.session()
	return &survey.Survey{Description: w.suite.description, Log: w.suite.log, Caller: w.caller(),
		Session: target.Session{Access: session.access, Refresh: session.refresh},
		APIKey:  w.apiKey, AccessToken: w.token, IDs: map[string][]string{"clientId": {string(w.client)}}}
}

// reads run after the flows that make things, so that there is something to read.
func (w *world) reads() {
	w.step("everything that reads", func() {
		cases, err := w.reader().Run(w.Context())
		require.NoError(w, err)
		for _, c := range cases {
			assert.NotEqual(w, report.Failed, c.Outcome, "%s %s: %s", c.Flow, c.Name, c.Reason)
		}
	})
}

// probes send each accepted request once more for every assumed demand on it, with just that demand not met: a field
// left out, a text too long. A host that refuses it confirms the assumption, one that takes it contradicts it. The flow
// of the reads has sent those of reads.
func (w *world) probes() {
	again := w.again()
	for _, p := range report.Probes(w.suite.description, w.suite.log.Exchanges()) {
		if p.Of.Method == http.MethodGet {
			continue
		}
		if !w.mayProbe(p.Of) {
			w.embedded(p.Name(), nil)
			continue
		}
		w.step(p.Name(), func() {
			again(p.Of, p.Change)
			w.broken = ""
		})
	}
}

// repeats make the last accepted request of each operation once more, whose repetition is assumed to be harmless or
// not.
func (w *world) repeats() {
	last := map[string]*report.Exchange{}
	var names []string
	for _, x := range w.suite.log.Exchanges() {
		if !report.AssumesRepetition(x) || !x.Accepted() {
			continue
		}
		if last[x.Name()] == nil {
			names = append(names, x.Name())
		}
		last[x.Name()] = x
	}
	again := w.again()
	for _, name := range names {
		if !w.mayProbe(last[name]) {
			w.embedded(name, nil)
			continue
		}
		w.step(name, func() { again(last[name], report.Change{}) })
	}
}
