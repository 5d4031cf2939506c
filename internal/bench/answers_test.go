package bench

import (
	"fmt"
	"strings"
)

// payoutID, contactID and clientID are the ids in the calls.
const (
	payoutID  = "po_01J9Z3K8QW5T7"
	contactID = "ct_01J9Z3H2MB4C6"
	clientID  = "cl_8fK2n5QxT3vR"
)

// payoutAnswer is a booked payout with its quote and approval, some 900 bytes.
const payoutAnswer = `{"id":"` + payoutID +
	`","status":"awaiting_approval","idempotencyKey":"invoice-42","contactId":"` + contactID + `",` +
	`"amount":"1250.50","currency":"USDC","paymentReference":"Invoice 42","purpose":"services",` +
	`"documentIds":["doc_01J9Z3A1","doc_01J9Z3A2"],` +
	`"quote":{"sourceAmount":"1250.50","sourceCurrency":"USDC","destinationAmount":"1147.93",` +
	`"destinationCurrency":"EUR",` +
	`"rate":"0.91873","fee":"1.05","expiresAt":"2031-05-04T10:02:00Z"},` +
	`"approval":{"id":"ap_01J9Z3K8R0","payload":"` +
	`eyJhY2NvdW50IjoiY2xfOGZLMm41UXhUM3ZSIiwiYW1vdW50IjoiMTI1MC41MCIsImFwcHJvdmFsSWQiOiJhcF8wMUo5WjNLOFIwIiwiY3VycmVuY3kiOiJVU0RD` +
	`IiwiZXhwaXJlc0F0IjoiMjAzMS0wNS0wNFQxMDowMjowMFoiLCJub25jZSI6Ik1EQXdNREF3TURBIiwib3BlcmF0aW9uIjoicGF5b3V0LmZ1bmQifQ==` +
	`","expiresAt":"2031-05-04T10:02:00Z"},"createdAt":"2031-05-04T10:00:00Z"}`

// pageLength is the longest page of the service.
const pageLength = 100

// pageAnswer is a full page of the ledger, some 29 kB: payouts, deposits and refunds by turns, as in an account's
// history.
func pageAnswer() string {
	var page strings.Builder
	page.WriteString(`{"items":[`)
	for i := range pageLength {
		if i > 0 {
			page.WriteByte(',')
		}
		kind, direction, owner := "payout", "out", fmt.Sprintf(`"payoutId":"po_01J9Z3K8%05d",`, i)
		switch i % 5 {
		case 1, 2:
			kind, direction, owner = "deposit", "in", ""
		case 3:
			kind, direction = "refund", "in"
		}
		fmt.Fprintf(&page,
			`{"id":"tx_01J9Z4T0%05d","type":"%s","direction":"%s","amount":"%d.%02d","currency":"USDC",`+
				`"status":"completed",`+
				`%s"transactionHash":"0x9c2b7d0f4a6e8135%048x","createdAt":"2031-05-04T%02d:%02d:00Z"}`,
			i, kind, direction, 10+i*37, i, owner, i, i/60, i%60)
	}
	page.WriteString(`],"nextCursor":"eyJhZnRlciI6InR4XzAxSjlaNFQwMDAwOTkifQ"}`)
	return page.String()
}
