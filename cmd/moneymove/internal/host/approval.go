package host

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

// approvalJSON is an approval as the service sends it.
type approvalJSON struct {
	ID        string    `json:"id"`
	Payload   string    `json:"payload"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// preparedJSON is a response that holds an approval: a booked payout, an escrow, or a prepared action of an escrow.
// What it says about the payment must be what the approval says.
type preparedJSON struct {
	approvalJSON
	Amount    string        `json:"amount"`
	Currency  string        `json:"currency"`
	ContactID string        `json:"contactId"`
	Payee     string        `json:"payee"` // of an escrow
	Approval  *approvalJSON `json:"approval"`
	Action    *struct {
		Type     string        `json:"type"`
		Approval *approvalJSON `json:"approval"`
	} `json:"action"`
}

// prepared is an approval, and what must be in it.
type prepared struct {
	signing.Approval
	want []term
}

// term is a value that a field of the payload must have, and where that value comes from.
type term struct{ field, value, from string }

const fromResponse = "the response around the approval"

// readPrepared reads a whole response, or only its approval.
func readPrepared(text []byte) (prepared, error) {
	var p preparedJSON
	if err := json.Unmarshal(bytes.TrimSpace(text), &p, json.RejectUnknownMembers(false)); err != nil {
		return prepared{}, app.Usagef("the input is not the JSON of a booking or of its approval: %w", err)
	}
	var want []term
	add := func(field, value string) {
		if value != "" {
			want = append(want, term{field, value, fromResponse})
		}
	}
	approval := p.Approval
	switch {
	case approval != nil:
		add("resourceId", p.ID)
	case p.Action != nil && p.Action.Approval != nil:
		approval = p.Action.Approval
		if p.Action.Type != "" {
			add("operation", "escrow."+p.Action.Type)
		}
		add("resourceId", p.ID)
	case p.Payload != "":
		approval = &p.approvalJSON
	default:
		return prepared{}, app.Usagef("the input has no approval: give the response of POST /payouts, " +
			"or its member approval; a payout that is funded has none any more")
	}
	add("amount", p.Amount)
	add("currency", p.Currency)
	add("destination.contactId", p.ContactID)
	add("destination.address", p.Payee)
	payload, err := base64.StdEncoding.DecodeString(approval.Payload)
	if err != nil {
		return prepared{}, app.Usagef("the payload of the approval is not base64: %w", err)
	}
	return prepared{signing.Approval{ID: approval.ID, Payload: payload, ExpiresAt: approval.ExpiresAt}, want}, nil
}

// payloadField is one member of a payload, as it is.
type payloadField struct{ name, value string }

// fields returns every member of the payload in its order, also the unknown ones. A payload that is not JSON has one
// field.
func (p prepared) fields() []payloadField {
	fields, err := members("", p.Payload)
	if err != nil {
		return []payloadField{{"payload", fmt.Sprintf("%q", p.Payload)}}
	}
	return fields
}

func members(prefix string, object []byte) (fields []payloadField, err error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		field := prefix + name.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		if value.Kind() == '{' {
			inner, err := members(field+".", value)
			if err != nil {
				return nil, err
			}
			fields = append(fields, inner...)
			continue
		}
		fields = append(fields, payloadField{field, displayValue(value)})
	}
	return fields, nil
}

func displayValue(value jsontext.Value) string {
	var text string
	if value.Kind() == '"' && json.Unmarshal(value, &text) == nil {
		return text
	}
	return value.String()
}

// knownFields are the fields of a payload that package signing compares. A payload with another one is not signed.
var knownFields = []string{
	"approvalId", "operation", "resourceId", "account", "amount", "currency", "destination.contactId",
	"destination.address", "destination.chainId", "expiresAt", "nonce",
}

// expectable are the fields that -expect can name.
var expectable = []string{
	"operation", "resourceId", "account", "amount", "currency", contactField, addressField, chainField,
}

const (
	contactField = "destination.contactId"
	addressField = "destination.address"
	chainField   = "destination.chainId"
)

// fromExpect and the other sources of what the caller asked for.
const (
	fromExpect  = "-expect"
	fromRequest = "-request"
	fromClient  = "-as"
)

// requestJSON is the body of the request that an approval belongs to, as the caller has sent it.
type requestJSON struct {
	ContactID string `json:"contactId"` // of a payout
	ToChainID int64  `json:"toChainId"`
	Payee     string `json:"payee"` // of an escrow
	Type      string `json:"type"`  // of an action of an escrow
	Amount    string `json:"amount"`
	Currency  string `json:"currency"`

	// of a response, which shows nothing about what was asked for
	Approval jsontext.Value `json:"approval"`
	Action   jsontext.Value `json:"action"`
}

// readRequest returns what the request asked for. A payout that is asked for may only be funded, and an escrow
// approved.
func readRequest(text []byte) (terms []term, err error) {
	var r requestJSON
	if err := json.Unmarshal(bytes.TrimSpace(text), &r); err != nil {
		return nil, app.Usagef("-request is not the JSON of a payout, an escrow or an action: %w", err)
	}
	add := func(field, value string) {
		if value != "" {
			terms = append(terms, term{field, value, fromRequest})
		}
	}
	switch {
	case r.Approval != nil || r.Action != nil:
		return nil, app.Usagef("-request has an approval, so it is the response: give the body that was sent")
	case r.ContactID != "" && r.Payee == "" && r.Type == "":
		add("operation", "payout.fund")
		add(contactField, r.ContactID)
		if r.ToChainID != 0 {
			add(chainField, strconv.FormatInt(r.ToChainID, 10))
		}
	case r.Payee != "" && r.ContactID == "" && r.Type == "":
		add("operation", "escrow.approve")
		add(addressField, r.Payee)
	case r.Type != "" && r.ContactID == "" && r.Payee == "":
		add("operation", "escrow."+r.Type)
	default:
		return nil, app.Usagef("-request asks for no payout (contactId), escrow (payee) or action of an escrow (type)")
	}
	add("amount", r.Amount)
	add("currency", r.Currency)
	return terms, nil
}

// readExpected reads the values of -expect.
func readExpected(lines []string) (terms []term, err error) {
	for _, line := range lines {
		field, value, ok := strings.Cut(line, "=")
		if !ok || value == "" || !slices.Contains(expectable, field) {
			return nil, app.Usagef("-expect %q: write it as FIELD=VALUE; the fields are %s", line,
				strings.Join(expectable, ", "))
		}
		terms = append(terms, term{field, value, fromExpect})
	}
	return terms, nil
}

// requestedTerms returns what the caller asked for, each field once. Only -expect may name a chain otherwise than the
// request, because a payload can have the code of a chain where the request has its number.
func requestedTerms(actor dapi.ClientID, request, expected []term) (terms []term, err error) {
	if actor != "" {
		terms = append(terms, term{"account", string(actor), fromClient})
	}
	for _, t := range append(slices.Clone(request), expected...) {
		at := slices.IndexFunc(terms, func(known term) bool { return known.field == t.field })
		switch {
		case at < 0:
			terms = append(terms, t)
		case t.field == chainField && terms[at].from == fromRequest:
			terms[at] = t
		case !terms[at].equals(t):
			return nil, app.Usagef("%s of %s is %q, and that of %s is %q: give the one that was asked for", t.field,
				terms[at].from, terms[at].value, t.from, t.value)
		}
	}
	for _, t := range terms {
		if t.field != "amount" {
			continue
		}
		if _, err := app.Amount("amount", t.value); err != nil {
			return nil, err
		}
	}
	if !hasField(terms, "operation") && hasField(terms, contactField) { // which only payouts have
		terms = append(terms, term{"operation", "payout.fund", fromExpect})
	}
	return terms, nil
}

func hasField(terms []term, field string) bool {
	return slices.ContainsFunc(terms, func(t term) bool { return t.field == field })
}

// missingFields names what the caller did not say about a payment. What the response says does not count.
func missingFields(terms []term) (names []string) {
	for _, field := range []string{"account", "amount", "currency"} {
		if !hasField(terms, field) {
			names = append(names, field)
		}
	}
	if !hasField(terms, contactField) && !hasField(terms, addressField) {
		names = append(names, contactField)
	}
	if !hasField(terms, "operation") {
		names = append(names, "operation")
	}
	return names
}

// equals reports the same value. Amounts are compared by value: 25 is 25.00. The prefix of a contact is optional.
func (t term) equals(other term) bool {
	switch {
	case t.field != other.field || t.value == other.value:
		return t.field == other.field
	case t.field == contactField:
		return strings.TrimPrefix(t.value, "ct_") == strings.TrimPrefix(other.value, "ct_")
	case t.field == addressField:
		return strings.EqualFold(t.value, other.value)
	case t.field != "amount":
		return false
	}
	amount, err := app.Amount("amount", t.value)
	if err != nil {
		return false
	}
	others, err := app.Amount("amount", other.value)
	return err == nil && amount.Equal(others)
}

// intent returns what the caller wants to sign: the terms, and what the payload says of the fields that no term names.
// So package signing refuses a payload that differs from the terms, or from the response around it. If a term says who
// is paid, the terms have the whole destination: the payload must not add to it.
func (p prepared) intent(terms []term) signing.Intent {
	values := map[string]string{}
	for _, field := range p.fields() {
		values[field.name] = field.value
	}
	contact := values[contactField]
	if hasField(terms, contactField) || hasField(terms, addressField) {
		delete(values, contactField)
		delete(values, addressField)
		delete(values, chainField)
	}
	for _, t := range slices.Concat(p.want, terms) { // the terms come last, so that they decide
		values[t.field] = t.value
		if t.field == contactField && t.equals(term{contactField, contact, ""}) {
			values[t.field] = contact // with or without its prefix
		}
	}
	amount, _ := app.Amount("amount", values["amount"]) // zero without one
	return signing.Intent{
		Operation: values["operation"], ResourceID: values["resourceId"], Account: values["account"],
		Amount: amount, Currency: values["currency"],
		Destination: signing.Destination{
			ContactID: values[contactField], Address: values[addressField], ChainID: values[chainField],
		},
	}
}

// contradiction refuses a term of the caller that the response around the approval contradicts.
func contradiction(around, terms []term) error {
	for _, want := range terms {
		for _, got := range around {
			if want.field == got.field && !want.equals(got) {
				return &app.Failure{Code: app.ExitDecision, Err: fmt.Errorf(
					"not signed: %s of %s is %q, and not %q", want.field, got.from, got.value, want.value)}
			}
		}
	}
	return nil
}
