package gosource_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/gosource"
)

func TestLinesAreAtMostAsWideAsAllowed(t *testing.T) {
	full := strings.Repeat("é", gosource.Most-3)
	for name, c := range map[string]struct {
		text, first, next string
		want              []string
	}{
		"nothing":                  {"", "// ", "// ", []string{"// "}},
		"a short text":             {"a\n b", "- ", "  ", []string{"- a b"}},
		"a full line":              {full + " b", "// ", "// ", []string{"// " + full, "// b"}},
		"a word more than a line":  {"a " + full + "é b", "// ", "// ", []string{"// a", "// " + full + "é", "// b"}},
		"a tab is four columns":    {full[2:] + " b", "\t", "\t", []string{"\t" + full[2:], "\tb"}},
		"the first line is itself": {full[:len(full)-2] + " b", "- ", "  ", []string{"- " + full[:len(full)-2] + " b"}},
	} {
		assert.Equal(t, c.want, gosource.Lines(c.text, c.first, c.next), name)
	}
}
