package errors

import (
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

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
