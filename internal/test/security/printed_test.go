package security

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	jsonv1 "encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"regexp"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"go.yaml.in/yaml/v3"
)

// printers are the ways in which a value gets into logs, dumps, test reports and stored files. One that cannot show a
// value returns an error, and what it had written by then.
var printers = map[string]func(w io.Writer, value any) error{
	"fmt": func(w io.Writer, value any) error {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%c", "%U", "%t", "%p"} {
			fmt.Fprintf(w, verb+"\n", value)
		}
		return nil
	},
	"json v1": func(w io.Writer, value any) error { return jsonv1.NewEncoder(w).Encode(value) },
	"json v2": func(w io.Writer, value any) error { return jsonv2.MarshalWrite(w, value) },
	"xml":     func(w io.Writer, value any) error { return xml.NewEncoder(w).Encode(value) },
	"yaml": func(w io.Writer, value any) (err error) {
		defer func() { // it panics on what it cannot encode
			if problem := recover(); problem != nil {
				err = fmt.Errorf("%v", problem)
			}
		}()
		return yaml.NewEncoder(w).Encode(value)
	},
	"gob": func(w io.Writer, value any) error { return gob.NewEncoder(w).Encode(value) },
	"slog text": func(w io.Writer, value any) error {
		slog.New(slog.NewTextHandler(w, nil)).Info("got", "value", value, slog.Group("in", "group", value))
		return nil
	},
	"slog json": func(w io.Writer, value any) error {
		slog.New(slog.NewJSONHandler(w, nil)).Info("got", "value", value, slog.Group("in", "group", value))
		return nil
	},
	"testify": func(w io.Writer, value any) error {
		assert.Equal(report{w}, value, otherValue(value)) // its difference follows pointers, and calls no methods
		assert.Empty(report{w}, value)
		assert.Nil(report{w}, value)
		assert.Contains(report{w}, []any{}, value)
		return nil
	},
}

// otherValue is another value of the same type.
func otherValue(value any) any {
	typ := reflect.TypeOf(value)
	if typ.Kind() == reflect.Pointer {
		return reflect.New(typ.Elem()).Interface()
	}
	return reflect.Zero(typ).Interface()
}

// report is a test that notes why it failed.
type report struct{ io.Writer }

// Errorf implements assert.TestingT.
func (r report) Errorf(format string, args ...any) { fmt.Fprintf(r, format, args...) }

// printed is a value, alone and in whatever may hold it, in every way that there is.
func printed(value any) string {
	var all bytes.Buffer
	type hidden struct{ value any }
	for _, held := range []any{
		value, &value, []any{value}, map[string]any{"value": value}, struct{ Value any }{value}, hidden{value},
		&struct{ Pointer *any }{&value},
	} {
		for _, show := range printers {
			_ = show(&all, held)
		}
	}
	return all.String()
}

// encodings are the forms in which printers write a text or the bytes of one.
func encodings(secret string) []string {
	bytes := []byte(secret)
	spelled := func(format, separator string) string {
		parts := make([]string, len(bytes))
		for i, b := range bytes {
			parts[i] = fmt.Sprintf(format, b)
		}
		return strings.Join(parts, separator)
	}
	return []string{
		secret, hex.EncodeToString(bytes), strings.ToUpper(hex.EncodeToString(bytes)),
		strings.TrimRight(base64.StdEncoding.EncodeToString(bytes), "="),
		spelled("%d", " "), spelled("%d", ","), spelled("0x%x", ", "), spelled("0x%02x", ", "), spelled("%02x", " "),
		spelled("%x", " "), spelled("%o", " "),
	}
}

// dumpLine is a line of a hexadecimal dump, as encoding/hex and testify make it.
var dumpLine = regexp.MustCompile(`(?m)[0-9a-f]{8}  ((?:[0-9a-f]{2} +){1,16})\|`)

// dumped are the bytes of all hexadecimal dumps in a text, one behind the other.
func dumped(text string) string {
	var all strings.Builder
	for _, line := range dumpLine.FindAllStringSubmatch(text, -1) {
		bytes, err := hex.DecodeString(strings.ReplaceAll(line[1], " ", ""))
		if err == nil {
			all.Write(bytes)
		}
	}
	return all.String()
}

func assertHidden(t *testing.T, value any, secrets ...string) {
	t.Helper()
	text := printed(value)
	text += dumped(text)
	for _, secret := range secrets {
		if secret == "" {
			t.Errorf("%T: the secret to look for is empty", value)
		}
		for _, trace := range encodings(secret) {
			if at := strings.Index(text, trace); at >= 0 {
				t.Errorf("%T shows %s in %s", value, trace, text[max(0, at-200):at+len(trace)])
			}
		}
	}
}

// The search finds what there is to find: a plain text gets out in each way.
func TestEachPrinterShowsAPlainText(t *testing.T) {
	type plain struct{ Text string }
	for way, show := range printers {
		var out bytes.Buffer
		_ = show(&out, plain{canary})
		assert.Contains(t, out.String(), canary, way)
	}
	var dump bytes.Buffer
	_ = printers["testify"](&dump, struct{ Buffer []byte }{[]byte("some bytes before " + canary)})
	assert.NotContains(t, dump.String(), canary, "it is split over lines")
	assert.Contains(t, dumped(dump.String()), canary)
	for _, text := range []string{
		fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), fmt.Sprintf("%d", []byte(canary)),
		fmt.Sprintf("%#v", []byte(canary)), fmt.Sprintf("% x", canary),
		base64.StdEncoding.EncodeToString([]byte(canary)),
	} {
		found := false
		for _, trace := range encodings(canary) {
			found = found || strings.Contains(text, trace)
		}
		assert.True(t, found, text)
	}
}
