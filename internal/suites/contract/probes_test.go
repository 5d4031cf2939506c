package contract_test

import (
	"slices"

	"github.com/moneymovement/moneymovement-go/internal/contract/report"
)

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
	token := w.session().access
	return func(x *report.Exchange, change report.Change) reply {
		request := x.Again(w.Context(), change)
		if x.Operation.Surface == "dapi.yaml" && request.Header.Get("Authorization") != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		return w.deliver(request)
	}
}

// probes send each accepted request once more for every assumed demand on it, with just that demand not met: a field
// left out, a text too long. A host that refuses it confirms the assumption, one that takes it contradicts it.
func (w *world) probes() {
	again := w.again()
	for _, p := range report.Probes(w.suite.description, w.suite.log.Exchanges()) {
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
