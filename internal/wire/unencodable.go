package wire

import (
	"strconv"
	"strings"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Unencodable returns the field that [Marshal] could not write, such as a text that is not UTF-8. It returns "body" if
// it is not known.
func Unencodable(err error) string {
	var at codec.Pointer
	if semantic, ok := errors.AsType[*codec.SemanticError](err); ok {
		at = semantic.JSONPointer
	}
	if syntactic, ok := errors.AsType[*codec.SyntacticError](err); ok &&
		(at == "" || !at.Contains(syntactic.JSONPointer)) {
		at += syntactic.JSONPointer // inside a value that encodes itself
	}
	field := ""
	for step := range at.Tokens() {
		if _, err := strconv.ParseUint(step, 10, 64); err == nil {
			field += "[" + step + "]"
		} else {
			field += "." + step
		}
	}
	if field = strings.TrimPrefix(field, "."); field == "" {
		return "body"
	}
	return field
}
