package wire

import (
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sent has a member of each kind that a Writer writes.
type sent struct {
	Text    string          `json:"text"`
	Texts   []string        `json:"texts"`
	Amount  decimal.Decimal `json:"amount"`
	Integer int64           `json:"integer"`
	Boolean bool            `json:"boolean"`
	Bytes   []byte          `json:"bytes"`
}

func (s *sent) write(w *Writer) {
	w.Text("text", s.Text)
	Texts(w, "texts", s.Texts)
	w.Amount("amount", s.Amount)
	w.Integer("integer", s.Integer)
	w.Boolean("boolean", s.Boolean)
	w.Bytes("bytes", s.Bytes)
}

func TestTheWriterWritesAsMarshalDoes(t *testing.T) {
	values := []sent{
		{Texts: []string{}, Bytes: []byte{}},
		{Text: "plain", Texts: []string{"one"}, Amount: decimal.RequireFromString("12.50"), Integer: 10, Boolean: true,
			Bytes: []byte("a")},
		{Text: " ~", Texts: []string{"", "two", "three"}, Amount: decimal.RequireFromString("-0.001"), Integer: -11,
			Bytes: []byte{0, 0xff, '"'}},
	}
	for _, text := range []string{`"`, `\`, "\n", "\x00", "\x1f", "\x7f", "é", "😀", "<&>", "\u2028"} {
		values = append(values, sent{Text: text, Texts: []string{text, "a" + text, text + "a"}, Bytes: []byte(text)})
	}
	for i, value := range values {
		want, err := Marshal(&value)
		require.NoError(t, err)
		got, ok := Write(value.write)
		assert.True(t, ok, i)
		assert.Equal(t, string(want), string(got), i)
	}
	got, ok := Write(func(*Writer) {})
	assert.True(t, ok)
	assert.Equal(t, `{}`, string(got))
}

// What Marshal refuses, a Writer leaves to it, whichever member it is. The next object is written as usual.
func TestTheWriterWritesNoInvalidText(t *testing.T) {
	const invalid = "a\xff"
	for name, members := range map[string]func(*Writer){
		"the only one":  func(w *Writer) { w.Text("a", invalid) },
		"not the last":  func(w *Writer) { w.Text("a", invalid); w.Text("b", "é") },
		"one of a list": func(w *Writer) { Texts(w, "a", []string{"b", invalid, "c"}) },
	} {
		body, ok := Write(members)
		assert.False(t, ok, name)
		assert.Nil(t, body, name)
		body, ok = Write(func(w *Writer) { w.Boolean("a", false) })
		assert.True(t, ok, name)
		assert.Equal(t, `{"a":false}`, string(body), name)
	}
}

// An object that was written is the caller's: the next one does not change it.
func TestObjectsThatWereWrittenStay(t *testing.T) {
	var all [][]byte
	for i := range 100 {
		body, ok := Write(func(w *Writer) {
			w.Integer("i", int64(i))
			w.Text("long", strings.Repeat("x", i*1000))
		})
		require.True(t, ok)
		all = append(all, body)
	}
	for i, body := range all {
		assert.Equal(t, `{"i":`+strconv.Itoa(i)+`,"long":"`+strings.Repeat("x", i*1000)+`"}`, string(body))
	}
}
