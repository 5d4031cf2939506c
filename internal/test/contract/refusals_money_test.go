package contract_test

import (
	"encoding/base64"
	"net/http"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// book books a payout to a bank contact.
func (s *session) book(key, amount string) reply {
	s.Helper()
	contact := s.send("POST", "/contacts",
		object{"name": "Bob", "account": object{"accountType": "sepa", "iban": "DE89370400440532013000",
			"accountHolderName": "Bob Roe"}})
	return s.send("POST", "/payouts", object{"contactId": contact.Text("id"), "amount": amount, "currency": "USDC"},
		"Idempotency-Key", key)
}

// confirm signs a booking's approval and funds a payout with it.
func (s *session) confirm(payoutID string, approval object) reply {
	s.Helper()
	return s.send("POST", "/payouts/"+payoutID+"/confirm", s.proof(approval))
}

// proof is the body of a confirm.
func (s *session) proof(approval object) object {
	s.Helper()
	encoded, _ := approval["payload"].(string)
	payload, err := base64.StdEncoding.DecodeString(encoded)
	require.NoError(s, err)
	return object{"approvalId": approval["id"], "publicKey": s.key.PublicKeyBase64(), "signature": s.sign(payload)}
}

func (s *session) bookAndConfirm() (booked, confirmed reply) {
	s.Helper()
	booked = s.book("k", "20")
	return booked, s.confirm(booked.Text("id"), booked.Object("approval"))
}

func (s *session) confirmAfter(d time.Duration) reply {
	s.Helper()
	booked := s.book("k", "20")
	s.host.Advance(d)
	return s.confirm(booked.Text("id"), booked.Object("approval"))
}

// approve confirms the approve action of a deal.
func (s *session) approve(deal reply) reply {
	s.Helper()
	action := deal.Object("action")
	key, _ := action["idempotencyKey"].(string)
	approval, _ := action["approval"].(map[string]any)
	return s.send("POST", "/escrow/"+deal.Text("id")+"/actions/"+key+"/confirm", s.proof(approval))
}

func (s *session) deal() reply {
	s.Helper()
	return s.must(http.StatusCreated, "POST", "/escrow", object{"amount": "10", "currency": "USDC", "payee": payee},
		"Idempotency-Key", "deal")
}

func (s *session) openSEPA() reply {
	s.Helper()
	return s.send("POST", "/banks", object{"method": "sepa", "currency": "EUR"})
}

var moneyProvocations = []provocation{
	{errors.CodeIdempotencyKeyReused, func(s *session) reply {
		key := s.unique("reused")
		s.book(key, "20")
		return s.book(key, "21")
	}},
	{errors.CodeConflict, func(s *session) reply { return s.send("POST", "/client/kyb/complete", nil) }},
	{errors.CodeSignerNotAttached, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.SignerDetached = true })
		return s.book("k", "20")
	}},
	{errors.CodeWalletNotLinked, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.ClientReadyAfter = sandbox.Duration(time.Hour) })
		s.acting = ""
		s.acting = s.must(http.StatusCreated, "POST", "/clients", object{"email": "bolt@example.com"}).Text("id")
		return s.send("POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"})
	}},
	{errors.CodeApprovalConsumed, func(s *session) reply {
		deal := s.deal()
		s.approve(deal)
		return s.approve(deal)
	}},
	{errors.CodeApprovalExpired, func(s *session) reply {
		deal := s.deal()
		s.host.Advance(time.Minute)
		return s.approve(deal)
	}},
	{errors.CodeApprovalMismatch, func(s *session) reply {
		return s.confirm(s.book(s.unique("one"), "20").Text("id"), s.book(s.unique("two"), "21").Object("approval"))
	}},
	{errors.CodeSigningPolicyRefused, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.SigningPolicy = sandbox.SigningPolicyRefuse })
		_, confirmed := s.bookAndConfirm()
		return confirmed
	}},
	{errors.CodeRailNotAvailable, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.RailsDisabled = []string{"sepa"} })
		return s.openSEPA()
	}},
	{errors.CodeRailRequirementsUnmet, func(s *session) reply { return s.openSEPA() }},
	{errors.CodeQuoteExpired, func(s *session) reply {
		s.configure(func(c *sandbox.Settings) { c.QuoteLifetime = sandbox.Duration(time.Minute) })
		return s.confirmAfter(time.Minute)
	}},
	{errors.CodeFundingAttemptExpired, func(s *session) reply { return s.confirmAfter(2 * time.Minute) }},
	{errors.CodeFundingInProgress, func(s *session) reply {
		booked, _ := s.bookAndConfirm()
		return s.confirm(booked.Text("id"), booked.Object("approval"))
	}},
	{errors.CodeAlreadyFunded, func(s *session) reply {
		booked, _ := s.bookAndConfirm()
		s.host.Advance(time.Duration(s.host.Settings().PayoutStepAfter))
		return s.confirm(booked.Text("id"), booked.Object("approval"))
	}},
	{errors.CodeContactNotPayable, func(s *session) reply {
		contact := s.must(http.StatusCreated, "POST", "/contacts",
			object{"name": "Bob", "account": object{"accountType": "sepa"}})
		return s.send("POST", "/payouts", object{"contactId": contact.Text("id"), "amount": "20", "currency": "USDC"})
	}},
	{errors.CodePayoutNotFundable, func(s *session) reply {
		booked := s.book("k", "100.01")
		return s.confirm(booked.Text("id"), booked.Object("approval"))
	}},
	{errors.CodeQuoteNotSubmitted, func(s *session) reply {
		return s.send("POST", "/sandbox/payouts/"+s.book(s.unique("unfunded"), "20").Text("id")+"/status",
			object{"status": "completed"})
	}},
}
