// Command errorcatalogue writes the Go types of the error catalogue, errors/slugs.gen.go, from openapi/errors.yaml. It
// also writes what the sandbox host says about each slug, sandbox/internal/wire/advice.gen.json. And it writes
// docs/errors.md, the page that explains every error of the SDK, from these sources:
//
//   - openapi/errors.yaml has the slugs,
//   - sandbox/SLUGS.md says how to provoke each of them,
//   - the Go documentation says what the other errors mean,
//   - page.yaml, beside this file, says what to do about these, and how to provoke them.
//
// Run it with `go generate ./errors`.
package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/gosource"
)

// The files that are read and written, from the root of the repository.
const (
	catalogueFile    = "openapi/errors.yaml"
	provocationsFile = "sandbox/SLUGS.md"
	rowsFile         = "internal/tools/codegen/errorcatalogue/page.yaml"
	codeFile         = "errors/slugs.gen.go"
	pageFile         = "docs/errors.md"
	adviceFile       = "sandbox/internal/wire/advice.gen.json"
)

func main() {
	root := flag.String("root", "..", "the folder of the repository")
	flag.Parse()
	if err := run(*root, *root); err != nil {
		fmt.Fprintln(os.Stderr, "errorcatalogue:", err)
		os.Exit(1)
	}
}

// run reads the sources below one folder and writes the files below another.
func run(from, to string) error {
	c, err := readCatalogue(from)
	if err != nil {
		return err
	}
	code, err := render(c)
	if err != nil {
		return err
	}
	page, err := newPage(from, c)
	if err != nil {
		return err
	}
	advice, err := renderAdvice(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, codeFile), code, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, adviceFile), advice, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, pageFile), page.render(), 0o644)
}

func readCatalogue(root string) (*catalogue, error) {
	source, err := os.ReadFile(filepath.Join(root, catalogueFile))
	if err != nil {
		return nil, err
	}
	c, err := parse(source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", catalogueFile, err)
	}
	return c, nil
}

//go:embed slugs.go.tmpl
var slugsTemplate string

// render writes the Go file. The same catalogue always gives the same bytes.
func render(c *catalogue) ([]byte, error) {
	t, err := template.New("slugs.go.tmpl").Funcs(template.FuncMap{
		"goName":   goName,
		"goType":   func(d detail) string { return detailTypes[d.Type].goType },
		"reader":   func(d detail) string { return detailTypes[d.Type].reader },
		"remedy":   func(j judgement) string { return remedies[j.Value] },
		"movement": func(j judgement) string { return movements[j.Value] },
		"assumed":  assumed,
		"page":     pageURL,
		"comment":  goComment,
	}).Parse(slugsTemplate)
	if err != nil {
		return nil, err
	}

	var code bytes.Buffer
	if err := t.Execute(&code, viewOf(c)); err != nil {
		return nil, err
	}
	formatted, err := format.Source(code.Bytes())
	if err != nil {
		return nil, fmt.Errorf("the template wrote code that does not parse: %w", err)
	}
	return formatted, nil
}

// view is the catalogue in the form that the template needs.
type view struct {
	Slugs      []slugView // sorted by slug
	Folded     []unreached
	FieldCodes []fieldCode
	Values     []namedValue
	Decimals   bool // whether any detail is a decimal
}

type slugView struct {
	slug
	Folds []string // slugs that have the Go type of this one
}

func viewOf(c *catalogue) view {
	v := view{FieldCodes: c.FieldCodes}
	folds := map[string][]string{}
	for _, u := range c.Unreached {
		if u.FoldedInto != "" {
			folds[u.FoldedInto] = append(folds[u.FoldedInto], u.Slug)
			v.Folded = append(v.Folded, u)
		}
	}
	for _, s := range c.Slugs {
		v.Slugs = append(v.Slugs, slugView{slug: s, Folds: folds[s.Slug]})
		for _, d := range s.Details {
			v.Values = append(v.Values, d.Values...)
			v.Decimals = v.Decimals || d.Type == "decimal"
		}
	}
	slices.SortFunc(v.Slugs, func(a, b slugView) int { return strings.Compare(a.Slug, b.Slug) })
	return v
}

// assumed returns the words in parentheses after a value that the description does not state. It leaves out the reason
// if that is the reason of the defaults.
func assumed(j judgement) string {
	switch {
	case j.Assumed == "":
		return ""
	case j.byDefault:
		return " (assumed)"
	}
	return " (assumed: " + strings.TrimSuffix(j.Assumed, ".") + ")"
}

// goName turns a slug into its Go name: invalid_id becomes InvalidID.
func goName(slug string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(slug, "_") {
		switch {
		case word == "id":
			name.WriteString("ID")
		case word != "":
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return name.String()
}

// pageURL returns the address at which the documentation explains a slug.
func pageURL(slug string) string {
	return "https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#" + anchor(slug)
}

// goComment breaks a text into lines of a comment.
func goComment(text string) string { return strings.Join(gosource.Lines(text, "// ", "// "), "\n") }

// advice is what the sandbox host's controls say about a slug.
type advice struct {
	Slug    string   `json:"slug"`
	Status  int      `json:"status"`
	Meaning string   `json:"meaning"`
	Do      string   `json:"do"`
	Hints   []string `json:"hints,omitempty"`
	Page    string   `json:"page"`
}

// renderAdvice returns what to do about each slug, as JSON.
func renderAdvice(c *catalogue) ([]byte, error) {
	var all []advice
	for _, s := range c.Slugs {
		all = append(all, advice{
			s.Slug, s.Status, s.Condition, cmp.Or(s.Hint, repeatable(s)), s.Hints, pageURL(s.Slug),
		})
	}
	slices.SortFunc(all, func(a, b advice) int { return cmp.Compare(a.Slug, b.Slug) })
	text, err := json.Marshal(all, jsontext.WithIndent("\t"))
	return append(text, '\n'), err
}
