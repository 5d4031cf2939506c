package wire

import (
	"bytes"
	"fmt"
	"io"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Malformed reports that an error of [Unmarshal] means invalid JSON, and not a value of another type.
func Malformed(err error) bool {
	_, malformed := errors.AsType[*codec.SyntacticError](err)
	return malformed
}

// Valid returns nil for one JSON value without duplicate keys, and the reason for any other body. Text that [Mend]
// replaces is no reason.
func Valid(body []byte) error {
	body, _ = Mend(body)
	dec := codec.NewDecoder(bytes.NewReader(body))
	if err := dec.SkipValue(); err != nil {
		return fmt.Errorf("the response is not valid JSON: %w", err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("the response is not valid JSON: there is more after the value")
	}
	return nil
}
