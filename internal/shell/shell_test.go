package shell_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/shell"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

func TestLines(t *testing.T) {
	for want, words := range map[string][]string{
		"moneymove pay 25 -as cl_1":                   {"moneymove", "pay", "25", "-as", "cl_1"},
		`-booked-before 'po_1; rm -rf ~'`:             {"-booked-before", "po_1; rm -rf ~"},
		`'it'\''s' '$(id)' '' '=ls' a=b '~' '*' '!x'`: {"it's", "$(id)", "", "=ls", "a=b", "~", "*", "!x"},
		"'two\nlines' 'Größe'":                        {"two\nlines", "Größe"},
		`$'\047\134\033[2J\342\200\256' ab`:           {"'\\\x1b[2J\u202e", "a\x00b"},
	} {
		assert.Equal(t, want, shell.Line(words...))
	}
}

// words are what somebody could try.
var words = []string{
	"", " ", "a b", "'", `\`, `'\''`, "$(touch injected)", "`touch injected`", "; touch injected", "\n touch injected\n",
	"$HOME", "~", "*", "{a,b}", "!!", "=ls", "-n", "--", "#", "&", "|", "\t", "\x1b]0;x\x07", "\u009b31m", "\u202e",
	"\u2028",
	"\x7f", "\r", "😀", "\U000e0041", "\xff", "a\xffb'\n", "$'\\x41'", "\\'; touch injected; '", "\x00",
}

// read returns the words that a shell reads on a line.
func read(ctx context.Context, t *testing.T, program, folder, line string) []string {
	t.Helper()
	command := exec.CommandContext(ctx, program, "-c", `set -- `+line+`; printf '%s\0' "$@"`)
	command.Dir, command.Env = folder, []string{"LC_ALL=C.UTF-8", "HOME=/somewhere", "PATH=/usr/bin:/bin"}
	said, err := command.CombinedOutput()
	require.NoError(t, err, "%s reads %q: %s", program, line, said)
	return strings.Split(strings.TrimSuffix(string(said), "\x00"), "\x00")
}

// received is what a program gets of a word.
func received(word string) string {
	word = strings.ReplaceAll(word, "\x00", "")
	if strings.Contains(word, "\ufffd") || strings.ToValidUTF8(word, "") != word {
		return strings.ToValidUTF8(word, "\ufffd")
	}
	return word
}

func check(ctx context.Context, t *testing.T, folder string, words ...string) {
	t.Helper()
	line := shell.Line(words...)
	want := make([]string, len(words))
	numbers := false
	for i, word := range words {
		want[i] = received(word)
		numbers = numbers || strings.HasPrefix(shell.Word(word), "$'")
	}
	require.Equal(t, want, read(ctx, t, "bash", folder, line))
	simple := read(ctx, t, "sh", folder, line)
	require.Len(t, simple, len(words), "an older shell reads other text, and as many words")
	if !numbers {
		require.Equal(t, want, simple)
	}
	entries, err := exec.CommandContext(ctx, "ls", folder).Output()
	require.NoError(t, err)
	require.Empty(t, entries, "%s has run something", line)
}

func needShells(t testing.TB) {
	t.Helper()
	for _, program := range []string{"sh", "bash", "ls"} {
		if _, err := exec.LookPath(program); err != nil {
			testkit.Missing(t, "pages", "needs "+program)
		}
	}
}

func TestShellReadsQuotedWords(t *testing.T) {
	needShells(t)
	folder := t.TempDir()
	check(t.Context(), t, folder, words...)
	for _, word := range words {
		for _, other := range []string{"'", "\\", "$", "\x1b", "po_1"} {
			check(t.Context(), t, folder, word+other, other+word)
		}
	}
}

func FuzzShellReadsQuotedWords(f *testing.F) {
	needShells(f)
	for _, word := range words {
		f.Add(word, "po_1")
	}
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, first, second string) {
		check(t.Context(), t, folder, first, second)
	})
}
