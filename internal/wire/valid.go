package wire

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Valid reports what keeps a body from being one JSON value, without duplicate keys and invalid UTF-8.
func Valid(body []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	if err := dec.SkipValue(); err != nil {
		return fmt.Errorf("answer is no valid JSON: %w", err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("answer is no valid JSON: something stands behind the value")
	}
	return nil
}
