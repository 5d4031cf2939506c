package transport

import (
	"net/http"
	"strings"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
)

// requestIDHeader is X-Request-ID as net/http spells it. Looking for another spelling makes a copy.
const requestIDHeader = "X-Request-Id"

// head returns what errors say about the call.
func (r *Request) head() errors.CallInfo {
	head := callfacts.With(errors.CallInfo{
		Operation: r.op.ID, IdempotencyKey: string(r.call.Key), Resource: r.resource(), Account: r.account,
		Attempts: r.attempts,
	}, r.facts())
	if r.answer.header != nil {
		head.RequestID = r.answer.header.Get(requestIDHeader)
	}
	return head
}

// facts returns what the errors need to know about a call. Whether the call may be repeated depends on its key. Without
// a key, it depends on the call's age.
func (r *Request) facts() callfacts.Facts {
	facts := r.op.facts()
	facts.Once = !r.repeatable()
	if r.answer.status == http.StatusUnauthorized {
		facts.Misplaced = r.misplaced()
	}
	return facts
}

// forms are the beginnings of credentials as the sandbox host makes them, and the packages that take them.
var forms = []struct{ prefix, name, surface string }{
	{"ak_", "an app key, which package appapi takes", ""},
	{"uat_", "an access token of the reference endpoints, which package refapi takes", "/api/v1/"},
	{"at_", "an access token of the platform API, which package dapi gets with a developer key", "/dapi/v1/"},
}

// misplaced says what a refused credential looks like, if it looks like that of another surface.
func (r *Request) misplaced() string {
	credential := strings.TrimPrefix(r.header.Get("Authorization"), "Bearer ")
	if credential == "" {
		credential = r.header.Get("X-Api-Key")
	}
	surface := ""
	for _, form := range forms {
		if form.surface != "" && strings.Contains(r.target.Path, form.surface) {
			surface = form.surface
		}
	}
	for _, form := range forms {
		if form.surface != surface && strings.HasPrefix(credential, form.prefix) {
			return form.name
		}
	}
	return ""
}

func (o *Operation) facts() callfacts.Facts {
	return callfacts.Facts{ReadOnly: !o.write(), Once: o.write() && o.Repeat == RepeatNever,
		Moneyless: o.Money == MoneyNone}
}

// Head returns the head of an error that a surface creates itself.
func (o *Operation) Head(key string) errors.CallInfo {
	return callfacts.With(errors.CallInfo{Operation: o.ID, IdempotencyKey: key}, o.facts())
}

// resource returns the id in the path, or the contact in the body. It is called only for an error.
func (r *Request) resource() string {
	if r.about != "" || !r.hasBody {
		return r.about
	}
	return textMember(r.body, "contactId")
}
