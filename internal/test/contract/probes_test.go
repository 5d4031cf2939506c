package contract_test

import (
	"net/http"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/survey"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
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
