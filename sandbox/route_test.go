package sandbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// platformRoute is an operation of the platform API with the scope that it asks for.
type platformRoute struct{ pattern, scope string }

// platformRoutes are the table of endpoints, and the operations that it implies. The names of the scopes are assumed.
var platformRoutes = []platformRoute{
	{"POST /auth/challenge", ""},
	{"POST /auth/token", ""},
	{"POST /auth/refresh", ""},
	{"POST /clients", "accounts:write"},
	{"PUT /client/kyb", "accounts:write"},
	{"POST /client/kyb/complete", "accounts:write"},
	{"GET /banks", "read"},
	{"POST /banks", "accounts:write"},
	{"POST /payins", "accounts:write"},
	{"POST /payins/pi_1/instructions", "accounts:write"},
	{"POST /contacts", "contacts:write"},
	{"PATCH /contacts/ct_1", "contacts:write"},
	{"DELETE /contacts/ct_1", "contacts:write"},
	{"GET /contacts/ct_1/capabilities", "read"},
	{"POST /payouts", "payouts:write"},
	{"POST /payouts/po_1/confirm", "payouts:write"},
	{"GET /transactions", "read"},
	{"GET /chains", "read"},
	{"POST /escrow", "payouts:write"},
	{"POST /escrow/esc_1/actions", "payouts:write"},
	{"POST /escrow/esc_1/sync", "payouts:write"},
	{"GET /sandbox/treasury", ""},
	{"POST /sandbox/deposits", ""},
	{"POST /sandbox/payins/pi_1/complete", ""},
	{"POST /sandbox/payouts/po_1/status", ""},

	{"GET /clients/cl_1", "read"},
	{"GET /client/kyb", "read"},
	{"GET /payins/pi_1", "read"},
	{"GET /payouts/po_1", "read"},
	{"POST /escrow/esc_1/actions/key-1/confirm", "payouts:write"},
}

// Every route is there, and asks for a session unless it is a login's.
// Rule: endpoint.rows, session.bearer
func TestEveryRowOfTheTableIsThere(t *testing.T) {
	w := newWorld(t)
	require.Len(t, platformRoutes, 25+5)
	for _, route := range platformRoutes {
		method, path, _ := strings.Cut(route.pattern, " ")
		got := w.call(method, "/dapi/v1"+path, nil)
		if strings.HasPrefix(path, "/auth/") {
			refused(t, http.StatusBadRequest, "invalid_request", got) // a body is missing, and no session is
			continue
		}
		refused(t, http.StatusUnauthorized, "unauthenticated", got)
	}
}

// Every write of the platform API, in an order in which each can succeed. Each is made with a key of its own, and
// without any: the answers have the same status.
// Rule: idempotency.optional
func TestEveryWriteTakesAKeyAndNeedsNone(t *testing.T) {
	for _, keyed := range []bool{true, false} {
		p := newPayer(t)
		p.verify()
		made := map[string]bool{}
		write := func(status int, pattern, path string, body any) reply {
			method, _, _ := strings.Cut(pattern, " ")
			made[pattern] = true
			var headers []string
			if keyed {
				headers = []string{"Idempotency-Key", "key-" + strings.NewReplacer(" ", "-", "/", "-").Replace(pattern)}
			}
			return p.must(status, method, path, body, headers...)
		}
		challenge := write(201, "POST /auth/challenge", "/auth/challenge",
			object{"email": p.email, "requestExpiry": p.host.Now().Add(time.Minute)})
		write(201, "POST /auth/token", "/auth/token", object{
			"challengeId": challenge.body.text("challengeId"), "publicKey": p.key.public(t),
			"signature": p.key.sign(t, bytesOf(t, challenge.body.text("payload"))),
		})
		write(201, "POST /auth/refresh", "/auth/refresh", object{"refreshToken": p.refresh})
		write(201, "POST /clients", "/clients", object{"email": "bolt@example.com"})
		write(201, "POST /banks", "/banks", object{"method": "sepa", "currency": "EUR"})
		write(200, "PUT /client/kyb", "/client/kyb", object{"applicant": object{"legalName": "Acme International Ltd"}})
		write(200, "POST /client/kyb/complete", "/client/kyb/complete", nil)

		payin := write(201, "POST /payins", "/payins", object{"amount": "50", "currency": "USDC", "originChainId": 1}).
			body.text("id")
		write(201, "POST /payins/pi_1/instructions", "/payins/"+payin+"/instructions", nil)
		write(200, "POST /sandbox/payins/pi_1/complete", "/sandbox/payins/"+payin+"/complete", nil)
		write(201, "POST /sandbox/deposits", "/sandbox/deposits", object{"amount": "50", "currency": "USDC"})

		contact := write(201, "POST /contacts", "/contacts",
			object{"account": object{"accountType": "pix", "pixKey": "bob", "accountHolderName": "Bob"}}).
			body.text("id")
		payout := write(201, "POST /payouts", "/payouts",
			object{"contactId": contact, "amount": "10", "currency": "USDC"})
		id := payout.body.text("id")
		write(200, "POST /payouts/po_1/confirm", "/payouts/"+id+"/confirm", p.signed(payout.body))
		write(200, "POST /sandbox/payouts/po_1/status", "/sandbox/payouts/"+id+"/status", object{"status": "completed"})
		write(200, "PATCH /contacts/ct_1", "/contacts/"+contact, object{"name": "Robert"})
		write(204, "DELETE /contacts/ct_1", "/contacts/"+contact, nil)

		deal := write(201, "POST /escrow", "/escrow", object{"amount": "10", "currency": "USDC", "payee": payee})
		path := "/escrow/" + deal.body.text("id")
		write(200, "POST /escrow/esc_1/actions/key-1/confirm", path+"/actions/"+deal.action().
			text("idempotencyKey")+"/confirm", p.signed(deal.action()))
		write(201, "POST /escrow/esc_1/actions", path+"/actions", object{"type": "release"})
		write(200, "POST /escrow/esc_1/sync", path+"/sync", nil)

		for _, route := range platformRoutes {
			if !strings.HasPrefix(route.pattern, "GET ") {
				assert.True(t, made[route.pattern], "%s was not made", route.pattern)
			}
		}
	}
}
