package service

import (
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// Payments returns a service that books payouts, takes confirms and shows the payouts. Each booking has an id and an
// approval that no other has: they come from its key. A confirm returns the payout as it was, so that a client must
// read it once more.
func Payments() *Service {
	const payouts = "/dapi/v1/payouts"
	return By(func(r *http.Request) *Response {
		now := time.Now().UTC().Truncate(time.Second)
		id, _ := strings.CutPrefix(r.URL.Path, payouts+"/")
		id, confirms := strings.CutSuffix(id, "/confirm")
		switch {
		case confirms:
			return dated(now, http.StatusOK, paidPayout(now, id, "awaiting_approval", ""))
		case r.Method == http.MethodGet:
			return dated(now, http.StatusOK, paidPayout(now, id, "processing", ""))
		}
		id = "po_" + r.Header.Get("Idempotency-Key")
		return dated(now, http.StatusCreated, paidPayout(now, id, "awaiting_approval", approvalOf(now, id)))
	})
}

func dated(now time.Time, status int, body string) *Response {
	response := JSON(status, body)
	response.Header["Date"] = []string{now.Format(http.TimeFormat)}
	return response
}

const window = 100 * time.Second // shorter than the approval may live, for clocks that differ

func paidPayout(now time.Time, id, status, approval string) string {
	end := now.Add(window).Format(time.RFC3339)
	return `{"id":"` + id + `","status":"` + status + `","idempotencyKey":"` + id[len("po_"):] + `","contactId":"` +
		ContactID +
		`","amount":"1250.50","currency":"USDC","quote":{"sourceAmount":"1250.50","sourceCurrency":"USDC",` +
		`"destinationAmount":"1147.93","destinationCurrency":"EUR","rate":"0.91873","fee":"1.05",` +
		`"expiresAt":"` + end + `"},` + approval + `"createdAt":"` + now.Format(time.RFC3339) + `"}`
}

// approvalOf returns the member with the approval of a payout. Its payload is canonical JSON, as the service writes it.
func approvalOf(now time.Time, payoutID string) string {
	end := now.Add(window).Format(time.RFC3339)
	id := "ap_" + payoutID[len("po_"):]
	payload := `{"account":"` + ClientID + `","amount":"1250.5","approvalId":"` + id + `","currency":"USDC",` +
		`"destination":{"contactId":"` + ContactID + `"},"expiresAt":"` + end + `","nonce":"` + id[len("ap_"):] +
		`","operation":"payout.fund","resourceId":"` + payoutID + `"}`
	return `"approval":{"id":"` + id + `","payload":"` + base64.StdEncoding.EncodeToString([]byte(payload)) +
		`","expiresAt":"` + end + `"},`
}
