// Command comments turns the comments of oapi-codegen, a name and a description side by side ("Payout A departure of money."), into
// the ones a reader expects: "Payout: a departure of money." on a type, the description alone on a field. It also gives the package of
// the shared schemas its name.
package main

import (
	"log"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

func main() {
	log.SetFlags(0)
	for _, path := range os.Args[1:] {
		if err := rewrite(path); err != nil {
			log.Fatal("comments: ", err)
		}
	}
}

func rewrite(path string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(reword(rename(string(source)))), 0o644)
}

// rename gives the package of the shared schemas its own name, in place of the generator's.
func rename(source string) string {
	source = regexp.MustCompile(`(?m)(?:^\t".*/model"\n)?^\texternalRef0 (".*")\n`).ReplaceAllString(source, "\t$1\n")
	return strings.ReplaceAll(source, "externalRef0.", "model.")
}

var (
	comment  = regexp.MustCompile(`^(\t*)// (\w+) (.+)$`)
	declared = regexp.MustCompile(`^\t*(type )?(\w+) `)
)

// reword looks at the first line of each comment, and at what the comment is about.
func reword(source string) string {
	lines := strings.Split(source, "\n")
	for i, line := range lines {
		if i > 0 && strings.HasPrefix(strings.TrimSpace(lines[i-1]), "//") {
			continue
		}
		text := comment.FindStringSubmatch(line)
		about := declared.FindStringSubmatch(next(lines[i+1:]))
		if text == nil || about == nil || text[2] != about[2] {
			continue
		}
		switch indent, rest := text[1], text[3]; {
		case about[1] == "":
			lines[i] = indent + "// " + rest
		case !startsLower(rest): // else it is a sentence already: "Page is what a list answers."
			lines[i] = indent + "// " + about[2] + ": " + lowerFirst(rest)
		}
	}
	return strings.Join(lines, "\n")
}

// next is the line that the comment stands on.
func next(lines []string) string {
	for _, line := range lines {
		if !strings.HasPrefix(strings.TrimSpace(line), "//") {
			return line
		}
	}
	return ""
}

func startsLower(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(first)
}

// lowerFirst leaves acronyms alone.
func lowerFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if second, _ := utf8.DecodeRuneInString(s[size:]); unicode.IsUpper(second) {
		return s
	}
	return string(unicode.ToLower(first)) + s[size:]
}
