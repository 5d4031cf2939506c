package service

import (
	"fmt"
	"strings"
)

// The ids in the calls.
const (
	PayoutID  = "po_01J9Z3K8QW5T7"
	ContactID = "ct_01J9Z3H2MB4C6"
	ClientID  = "cl_8fK2n5QxT3vR"
)

// PageLength is the longest page of the service.
const PageLength = 100

// Form is how the service writes a response.
type Form int

const (
	Plain Form = iota
	// Unknown adds two members that no client knows to each object.
	Unknown
	// Greek writes text in Greek, and a slash as \/.
	Greek
	// OtherType writes one member whose type is assumed with another type. On a page, one entry has it.
	OtherType
)

// unknown is what the form Unknown adds to an object.
const unknown = `{"addedLater":"2031-05-04","scores":{"low":[1,2.5],"seen":true},`

// otherHash is what the form OtherType has in place of a text.
const otherHash = `"transactionHash":{"chain":"base","hash":"0x9c2b7d0f"}`

// write returns a response in a form. The form OtherType needs more than the text.
func (f Form) write(plain string) string {
	switch f {
	case Unknown:
		return strings.ReplaceAll(plain, `{"`, unknown+`"`)
	case Greek:
		return strings.NewReplacer(
			`"Invoice 42"`, `"Τιμολόγιο 42\/2031"`, `"services"`, `"υπηρεσίες"`, `"deposit"`, `"κατάθεση\/bank"`,
			`"payout","dir`, `"πληρωμή\/bank","dir`, `"refund"`, `"επιστροφή\/bank"`,
		).Replace(plain)
	case Plain, OtherType:
	}
	return plain
}

// Payout returns a booked payout with its quote and approval, some 900 bytes.
func Payout(form Form) string {
	hash := ""
	if form == OtherType { // the others have no hash yet
		hash = otherHash + ","
	}
	return form.write(`{"id":"` + PayoutID +
		`","status":"awaiting_approval","idempotencyKey":"invoice-42","contactId":"` +
		ContactID + `","amount":"1250.50","currency":"USDC","paymentReference":"Invoice 42","purpose":"services",` +
		`"documentIds":["doc_01J9Z3A1","doc_01J9Z3A2"],` +
		`"quote":{"sourceAmount":"1250.50","sourceCurrency":"USDC","destinationAmount":"1147.93",` +
		`"destinationCurrency":"EUR","rate":"0.91873","fee":"1.05","expiresAt":"2031-05-04T10:02:00Z"},` +
		`"approval":{"id":"ap_01J9Z3K8R0","payload":"` +
		`eyJhY2NvdW50IjoiY2xfOGZLMm41UXhUM3ZSIiwiYW1vdW50IjoiMTI1MC41MCIsImFwcHJvdmFsSWQiOiJhcF8wMUo5WjNLOFIwIiwiY3Vy` +
		`cmVuY3kiOiJVU0RDIiwiZXhwaXJlc0F0IjoiMjAzMS0wNS0wNFQxMDowMjowMFoiLCJub25jZSI6Ik1EQXdNREF3TURBIiwib3BlcmF0aW` +
		`9uIjoicGF5b3V0LmZ1bmQifQ==","expiresAt":"2031-05-04T10:02:00Z"},` +
		hash + `"createdAt":"2031-05-04T10:00:00Z"}`)
}

// Page returns a full page of the ledger, some 29 kB: payouts, deposits and refunds by turns, as in an account's
// history. Pages are numbered from 0 on, and next is the cursor of the next one, "" on the last.
func Page(form Form, number int, next string) string {
	var page strings.Builder
	page.Grow(40_000)
	page.WriteString(`{"items":[`)
	for i := range PageLength {
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
		hash := fmt.Sprintf(`"transactionHash":"0x9c2b7d0f4a6e8135%048x"`, i)
		if form == OtherType && i == PageLength/2 {
			hash = otherHash
		}
		fmt.Fprintf(&page,
			`{"id":"tx_01J9Z4T%08d","type":"%s","direction":"%s","amount":"%d.%02d","currency":"USDC",`+
				`"status":"completed",%s%s,"createdAt":"2031-05-04T%02d:%02d:00Z"}`,
			number*PageLength+i, kind, direction, 10+i*37, i, owner, hash, i/60, i%60)
	}
	page.WriteString(`]`)
	if next != "" {
		page.WriteString(`,"nextCursor":"` + next + `"`)
	}
	page.WriteString(`}`)
	return form.write(page.String())
}

// The bodies of refusals: of a payout that is not there, of a contact that cannot be paid, and of a full rate window.
const (
	NotFound = `{"error":{"code":"not_found","message":"No payout with this id belongs to the account."}}`

	NotPayable = `{"error":{"code":"contact_not_payable","message":"The contact cannot be paid yet.",` +
		`"details":{"blockers":[` +
		`{"code":"iban_missing","message":"The account has no IBAN.","field":"iban"},` +
		`{"code":"holder_unverified","message":"The holder of the account is not verified."},` +
		`{"code":"address_incomplete","message":"The address has no city.","field":"address.city"}]}}}`

	RateLimited = `{"error":{"code":"rate_limited","message":"Too many requests in this window."}}`
)
