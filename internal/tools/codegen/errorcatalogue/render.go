package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/format"
	"slices"
	"strings"
	"text/template"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/wrap"
)

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
func goComment(text string) string { return strings.Join(wrap.Lines(text, "// ", "// "), "\n") }
