package oneline

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"EC PRIVATE KEY":               "EC PRIVATE KEY",
		"a\r\nb\x1b[31m\u2028c":        "a  b [31m c",
		"\u202e\xff":                   " �",
		strings.Repeat("é", 100):       strings.Repeat("é", 100),
		strings.Repeat("é", 101):       strings.Repeat("é", 100) + "…",
		"a" + strings.Repeat("é", 101): "a" + strings.Repeat("é", 99) + "…",
	} {
		assert.Equal(t, want, Of(text))
	}
}
