package errors

import (
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// The largest length of texts from outside in an error's text, in bytes.
const (
	maxMessage = 300
	maxCause   = 1000 // an underlying error's whole line
	maxName    = 128
	maxNames   = 8 // how many fields or blockers are named; the rest is counted
)

// errorLine is the one line that every error of this package prints as:
//
//	operation: status code: message: subjects: cause - advice (resource, request id, key, attempts) - see link
//
// Every part but the link is optional.
type errorLine struct {
	call       CallInfo
	status     int
	code       string
	message    string
	subjects   string
	cause      error
	advice     string
	corrects   bool // the advice is to send something else
	repeats    bool // the advice is to send the same call again
	retryAfter time.Duration
	anchor     string // of the error's entry on the error page
}

// within drops what the text of an outer error of the same call says already.
func (l errorLine) within(whole *errorLine) errorLine {
	outer := whole.call
	drop := func(text *string, said string) {
		if *text == said {
			*text = ""
		}
	}
	drop(&l.call.Operation, outer.Operation)
	drop(&l.call.IdempotencyKey, outer.IdempotencyKey)
	drop(&l.call.RequestID, outer.RequestID)
	drop(&l.call.Resource, outer.Resource)
	if l.call.Attempts <= outer.Attempts {
		l.call.Attempts = 0
	}
	if whole.repeats && l.corrects {
		l.advice = "" // to correct something, and to send the same again, would contradict each other
	}
	return l
}

// String returns the line, with a link to the entry on the error page.
func (l errorLine) String() string { return errorbase.LinkTo(l.anchor, l.words()) }

// words returns the line without the link.
func (l errorLine) words() string {
	var parts []string
	if l.call.Operation != "" {
		parts = append(parts, oneLine(l.call.Operation, maxName))
	}
	if l.call.facts.Earlier > errorbase.NonePaid {
		parts = append(parts, "this call paid nothing")
	}
	if status := l.statusAndCode(); status != "" {
		parts = append(parts, status)
	}
	if l.message != "" {
		parts = append(parts, oneLine(l.message, maxMessage))
	}
	if l.subjects != "" {
		parts = append(parts, l.subjects)
	}
	if cause := causeText(l.cause, &l); cause != "" {
		parts = append(parts, cause)
	}
	if len(parts) == 0 {
		parts = append(parts, "request failed")
	}
	text := sentence(parts, ": ")
	if advice := l.adviceOfPayment(); advice != "" {
		text = sentence([]string{text, oneLine(advice, maxMessage)}, " - ")
	}
	if circumstances := l.circumstances(text); circumstances != "" {
		text += " (" + circumstances + ")"
	}
	return text
}

// logValue returns the parts of a refusal's line.
func (l errorLine) logValue() slog.Value {
	attrs := make([]slog.Attr, 0, 8)
	add := func(name, value string, limit int) {
		if value != "" {
			attrs = append(attrs, slog.String(name, oneLine(value, limit)))
		}
	}
	add("operation", l.call.Operation, maxName)
	attrs = append(attrs, slog.Int("status", l.status))
	add("code", l.code, maxName)
	add("message", l.message, maxMessage)
	add("subjects", l.subjects, maxMessage)
	add("remedy", l.advice, maxMessage)
	add("requestId", l.call.RequestID, maxName)
	add("idempotencyKey", l.call.IdempotencyKey, maxName)
	return slog.GroupValue(attrs...)
}

// adviceOfPayment returns the advice, behind what is known of earlier calls of the payment.
func (l errorLine) adviceOfPayment() string {
	if l.call.facts.Earlier == errorbase.NonePaid {
		return l.advice
	}
	advice := "an earlier call with this key may have paid: " + l.advice
	if l.call.facts.Earlier == errorbase.MayExist {
		advice += "; with Journal in the terms, the SDK knows what earlier calls signed"
	}
	return advice
}

func (l errorLine) statusAndCode() string {
	code := oneLine(l.code, maxName)
	if l.status == 0 {
		return code
	}
	return strings.TrimSpace(strconv.Itoa(l.status) + " " + code)
}

func (l errorLine) circumstances(said string) string {
	var parts []string
	if resource := oneLine(l.call.Resource, maxName); !strings.Contains(said, resource) {
		parts = append(parts, resource)
	}
	if l.call.RequestID != "" {
		parts = append(parts, "request "+oneLine(l.call.RequestID, maxName))
	}
	if l.call.IdempotencyKey != "" {
		parts = append(parts, "key "+oneLine(l.call.IdempotencyKey, maxName))
	}
	if l.call.Attempts > 1 {
		parts = append(parts, strconv.Itoa(l.call.Attempts)+" attempts")
	}
	if l.retryAfter > 0 {
		parts = append(parts, "retry after "+l.retryAfter.String())
	}
	return strings.Join(parts, ", ")
}

// sentence joins the parts. Only the last part keeps its full stop.
func sentence(parts []string, separator string) string {
	for i := range parts[:len(parts)-1] {
		parts[i] = strings.TrimSuffix(parts[i], ".")
	}
	return strings.Join(parts, separator)
}

// listed joins at most maxNames names for an error's text, and adds how many more there are.
func listed(names []string) string { return listedWith(names, ", ") }

func listedWith(names []string, separator string) string {
	if len(names) <= maxNames {
		return strings.Join(names, separator)
	}
	return strings.Join(names[:maxNames], separator) + " and " + strconv.Itoa(len(names)-maxNames) + " more"
}

// causeText returns the text of an underlying error, without what the outer error of the same call says already. The
// text of a *url.Error does not have its URL, which can contain ids and queries.
func causeText(err error, outer *errorLine) string {
	if err == nil {
		return ""
	}
	switch known := err.(type) { //nolint:errorlint // what is wrapped has already been put into words
	case interface{ line() *errorLine }:
		return oneLine(known.line().within(outer).words(), maxCause)
	case interface{ Unwrap() []error }:
		var texts []string
		for _, branch := range known.Unwrap() {
			texts = append(texts, causeText(branch, outer))
		}
		return oneLine(strings.Join(texts, "; "), maxCause)
	}
	if u, ok := err.(*url.Error); ok && u.Err != nil { //nolint:errorlint // a wrapped one has already been put into words
		err = u.Err
	}
	return oneLine(errorbase.WithoutLink(err.Error()), maxMessage)
}

// oneLine makes text from outside safe for a log. Characters that do not print become spaces, invalid UTF-8 becomes
// U+FFFD, and several spaces become one. The result has at most limit bytes: a longer text is cut and ends with an
// ellipsis.
func oneLine(text string, limit int) string {
	const ellipsis = "…"
	var out strings.Builder
	space := false
	fits := 0 // length up to which an ellipsis still fits
	for _, r := range text {
		if !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			space = out.Len() > 0
			continue
		}
		size := utf8.RuneLen(r)
		if space {
			size++
		}
		if out.Len()+size > limit {
			return strings.TrimRight(out.String()[:fits], " ") + ellipsis
		}
		if space {
			out.WriteByte(' ')
			space = false
		}
		out.WriteRune(r)
		if out.Len() <= limit-len(ellipsis) {
			fits = out.Len()
		}
	}
	return out.String()
}

// Some refusals list what failed, such as fields. Their text has the names and codes, so that a log line says what to
// look at. It leaves out the messages of fields and blockers, because a validator's sentence can quote the value.

// "CreateContact: 422 validation_failed: ...: account.iban (missing)"
func (e *ValidationFailed) subjects() string { return fieldNames(e.Fields) }

func (e *RailRequirementsUnmet) subjects() string { return blockerNames(e.Blockers) }

func (e *ContactNotPayable) subjects() string { return blockerNames(e.Blockers) }

// Error returns one line that is safe to log and has the paths that failed, for example
// "UpdateInvoice: 422: body.items[0].price (missing)".
func (e *DetailErrors) Error() string { return e.line().String() }

func (e *DetailErrors) line() *errorLine {
	names := make([]string, len(e.Items))
	for i, item := range e.Items {
		names[i] = nameAndCode(item.Path, item.Type)
	}
	line := e.lineWith(listed(names), "")
	line.anchor = errorbase.Anchor("errors.DetailErrors")
	return line
}

func fieldNames(fields []Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = nameAndCode(f.Field, f.Code)
		// The code does not say how many decimals there may be.
		if message := oneLine(f.Message, maxMessage); f.Code == FieldAmountPrecision && message != "" {
			names[i] += ": " + message
		}
	}
	return listed(names)
}

// fieldMessages returns what is wrong with each field: "amount has 7 decimals, but USDC allows at most 6".
func fieldMessages(fields []Field) string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = nameAndCode(f.Field, f.Code)
		if message := oneLine(f.Message, maxMessage); message != "" {
			texts[i] = strings.TrimSpace(oneLine(f.Field, maxName) + inProgram[f.Field] + " " + message)
		}
	}
	return listedWith(texts, "; ")
}

// inProgram is what a program calls a header, which only the SDK writes.
var inProgram = map[string]string{
	"X-Service-Account": " (the client of For)", "Idempotency-Key": " (the key of the call)",
}

func blockerNames(blockers []Blocker) string {
	names := make([]string, len(blockers))
	for i, b := range blockers {
		names[i] = nameAndCode(b.Code, b.Field)
	}
	return listed(names)
}

// nameAndCode returns "name (code)", or only one of them if the other is empty.
func nameAndCode(name, code string) string {
	name, code = oneLine(name, maxName), oneLine(code, maxName)
	switch {
	case name == "":
		return code
	case code == "":
		return name
	}
	return strings.Join([]string{name, " (", code, ")"}, "")
}

// The advice of errors that know more than the hint of their slug, from their details or their call.

func (e *NotFound) advice() string {
	if e.Resource == "" {
		return ""
	}
	account := "the credential's own account"
	if e.Account != "" {
		account = "client " + oneLine(e.Account, maxName)
	}
	return account + " has no " + oneLine(e.Resource, maxName) +
		": check the id, and the account that the call acts for"
}

func (e *Unauthenticated) advice() string {
	if e.facts.Misplaced == "" {
		return ""
	}
	return "the credential looks like " + e.facts.Misplaced + ": check which credential this client was made with"
}

func (e *Forbidden) advice() string {
	switch {
	case e.Reason == ReasonDeveloperSessionRequired:
		return "the token does not come from a developer-key login: log in with a developer key"
	case e.RequiredScope != "":
		scopes := "has no scopes"
		if len(e.Scope) > 0 {
			scopes = "has " + listed(safeNames(e.Scope))
		}
		return "the developer key " + scopes + " but needs " + oneLine(e.RequiredScope, maxName) +
			": use a key with this scope, then repeat with the same idempotency key"
	}
	return ""
}

func (e *InvalidID) advice() string {
	if e.ExpectedPrefix == "" {
		return ""
	}
	expected := "pass an id that begins with " + oneLine(e.ExpectedPrefix, maxName)
	if e.Resource == "" || strings.HasPrefix(e.Resource, e.ExpectedPrefix) {
		return expected
	}
	return expected + ", not " + oneLine(e.Resource, maxName)
}

func (e *IdempotencyKeyReused) advice() string {
	owner := e.PayoutID
	if owner == "" {
		owner = e.EscrowID
	}
	if owner == "" {
		return ""
	}
	return "the idempotency key belongs to " + oneLine(owner, maxName) +
		", which has other terms: check it before you use a new key"
}

func (e *RateLimited) advice() string {
	if e.RetryAt.IsZero() {
		return ""
	}
	return "wait until " + e.RetryAt.UTC().Format(time.RFC3339) +
		", and let all processes that use this credential share one rate limiter"
}

func (e *LoginModeUnavailable) advice() string {
	if e.Use == "" {
		return ""
	}
	return "log in with " + oneLine(e.Use, maxName) + ", the mode that is enabled"
}

func (e *AlreadyFunded) advice() string {
	if e.PayoutID == "" {
		return ""
	}
	return "treat this as a success: payout " + oneLine(e.PayoutID, maxName) + " is funded, do not pay it again"
}

func (e *AmountAboveMaximum) advice() string {
	if e.MaxCredit.IsZero() {
		return ""
	}
	return "ask for at most " + e.MaxCredit.String() + " per call"
}

func (e *PayoutNotFundable) advice() string {
	if !e.LowBalance() {
		return ""
	}
	return lowBalanceAdvice(e.Available.String(), e.Currency)
}

func (e *Conflict) advice() string {
	if !e.LowBalance() {
		return ""
	}
	return lowBalanceAdvice(e.Available.String(), e.Currency)
}

func lowBalanceAdvice(available, currency string) string {
	return "the balance is " + strings.TrimSpace(available+" "+oneLine(currency, maxName)) +
		": credit the account, then repeat with the same idempotency key"
}

func safeNames(names []string) []string {
	safe := make([]string, len(names))
	for i, name := range names {
		safe[i] = oneLine(name, maxName)
	}
	return safe
}
