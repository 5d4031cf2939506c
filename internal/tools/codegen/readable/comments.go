package main

import (
	"fmt"
	"go/ast"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/gosource"
)

// comments rewrites the comments of types and fields for go doc.
func (p *pkg) comments(f *file) ([]edit, error) {
	var edits []edit
	for _, declaration := range f.syntax.Decls {
		d, typ := typeOf(declaration)
		if typ == nil {
			continue
		}
		body, isStruct := typ.Type.(*ast.StructType)
		fields := map[string]string{}
		if isStruct {
			fields = goNames(body)
		}
		if d.Doc != nil && typ.Assign.IsValid() && stock.MatchString(d.Doc.Text()) {
			text := typ.Name.Name + " is the type of the parameter of that name."
			edits = append(edits, edit{f.offset(d.Doc.Pos()), f.offset(d.Doc.End()), comment(text)})
		} else if d.Doc != nil {
			text, err := p.ofType(typ.Name.Name, d.Doc.Text(), fields)
			if err != nil {
				return nil, err
			}
			edits = append(edits, edit{f.offset(d.Doc.Pos()), f.offset(d.Doc.End()), comment(text)})
		}
		if !isStruct {
			continue
		}
		for _, field := range body.Fields.List {
			if len(field.Names) == 1 && field.Doc == nil && field.Names[0].Name == furtherMembers {
				at := f.offset(field.Pos())
				edits = append(edits, edit{at, at, "\n// The other fields of the JSON object, by their JSON name.\n"})
			}
			if field.Doc == nil || len(field.Names) != 1 {
				continue
			}
			text := p.ofField(field.Names[0].Name, field.Doc.Text(), fields)
			edits = append(edits, edit{f.offset(field.Doc.Pos()), f.offset(field.Doc.End()), comment(text)})
		}
	}
	return edits, nil
}

// furtherMembers is the field that the generator adds to a type with additional members.
const furtherMembers = "AdditionalProperties"

// goNames returns the Go names of a struct's fields, by their names on the wire.
func goNames(body *ast.StructType) map[string]string {
	names := map[string]string{}
	for _, field := range body.Fields.List {
		if field.Tag == nil || len(field.Names) != 1 {
			continue
		}
		tag, _ := strconv.Unquote(field.Tag.Value)
		for _, key := range []string{"json", "form"} {
			if wire, _, _ := strings.Cut(reflect.StructTag(tag).Get(key), ","); wire != "" {
				names[wire] = field.Names[0].Name
			}
		}
	}
	return names
}

// stock is the beginning of the generator's comment on a type without a description.
var stock = regexp.MustCompile(`^\w+ defines (model|body|parameters) for `)

// ofType turns the description of a type into a sentence about the type: "A price ..." becomes "Quote is a price ...",
// and "Books a payout." becomes "PayoutCreate books a payout.".
func (p *pkg) ofType(name, text string, fields map[string]string) (string, error) {
	text = strings.TrimSpace(text)
	if stock.MatchString(text) {
		return "", fmt.Errorf("%s has no description", name)
	}
	if rest, said := strings.CutPrefix(text, name+" "); said && unicode.IsLower([]rune(rest)[0]) {
		return p.spoken(text, fields), nil
	} else if said {
		text = rest
	}
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case slices.Contains([]string{"A", "An", "The", "One"}, word):
		text = name + " is " + strings.ToLower(word) + " " + rest
	case strings.HasSuffix(word, "s") && unicode.IsUpper([]rune(word)[0]):
		text = name + " " + strings.ToLower(word) + " " + rest
	default:
		return "", fmt.Errorf("the description of %s begins with neither an article nor a verb such as %q: %s", name,
			"Books", text)
	}
	if p.values[name] > 1 {
		open := " The service can add values."
		if p.known[name] {
			open += " Known reports whether this version knows a value."
		}
		paragraph, others, more := strings.Cut(text, "\n\n")
		text = paragraph + open
		if more {
			text += "\n\n" + others
		}
	}
	return p.spoken(text, fields), nil
}

// ofField returns the description of a field, or "" if it only repeats the name.
func (p *pkg) ofField(name, text string, fields map[string]string) string {
	text = strings.TrimSpace(text)
	if rest, said := strings.CutPrefix(text, name+" "); said {
		text = rest
	}
	if repeats(text, name) {
		return ""
	}
	return p.spoken(text, fields)
}

// repeats reports a text whose words are all in the name.
func repeats(text, name string) bool {
	name = strings.ToLower(name)
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if !slices.Contains([]string{"a", "an", "the", "of"}, word) && !strings.Contains(name, word) {
			return false
		}
	}
	return true
}

var backticks = regexp.MustCompile("`([^`]+)`")

// spoken replaces text in backticks. A field of the same type gets its Go name, and so does `Type.field`. Everything
// else is put in quotes. A name with a capital letter inside, such as nextCursor, can be a field of any type.
func (p *pkg) spoken(text string, fields map[string]string) string {
	for from, to := range p.renamed {
		text = strings.ReplaceAll(text, "["+from+"]", "["+to+"]")
	}
	return backticks.ReplaceAllStringFunc(text, func(quoted string) string {
		word := strings.Trim(quoted, "`")
		if strings.HasPrefix(text, "Always ") { // a value, even if a field has this name
			return strconv.Quote(word)
		}
		if field := fields[word]; field != "" {
			return field
		}
		if typ, name, dotted := strings.Cut(word, "."); dotted && p.fields[typ][name] != "" {
			return typ + "." + p.fields[typ][name]
		}
		if field := p.anywhere(word); field != "" {
			return field
		}
		return strconv.Quote(word)
	})
}

// anywhere returns the Go name of a field, if all types with such a field agree.
func (p *pkg) anywhere(wire string) string {
	if wire == strings.ToLower(wire) {
		return ""
	}
	names := map[string]bool{}
	for _, fields := range p.fields {
		if name := fields[wire]; name != "" {
			names[name] = true
		}
	}
	if len(names) != 1 {
		return ""
	}
	for name := range names {
		return name
	}
	return ""
}

// comment writes a text as a comment, one line for each paragraph. wrapComments wraps them.
func comment(text string) string {
	if text == "" {
		return ""
	}
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		lines = append(lines, "// "+strings.Join(strings.Fields(paragraph), " "))
	}
	return strings.Join(lines, "\n//\n")
}

// wrapComments wraps comments at the widest column.
func wrapComments(f *file) (edits []edit, err error) {
	for _, group := range f.syntax.Comments {
		at := f.fset.Position(group.Pos())
		text := string(f.source[f.offset(group.Pos()):f.offset(group.End())])
		line := f.line(at.Line)
		indent := line[:len(line)-len(strings.TrimLeft(line, "\t"))]
		wide := false
		for each := range strings.SplitSeq(text, "\n") {
			wide = wide || gosource.Columns(indent+strings.TrimLeft(each, "\t")) > gosource.Most
		}
		if !wide || strings.TrimSpace(line[:at.Column-1]) != "" || strings.HasPrefix(text, "// Code generated") {
			continue
		}
		edits = append(edits, edit{f.offset(group.Pos()), f.offset(group.End()), wrapped(group.Text(), indent)})
	}
	return edits, nil
}

func (f *file) line(number int) string {
	start := f.offset(f.fset.File(f.syntax.FileStart).LineStart(number))
	line, _, _ := strings.Cut(string(f.source[start:]), "\n")
	return line
}

// wrapped returns a comment whose lines are not too wide. All lines but the first are indented.
func wrapped(text, indent string) string {
	var lines []string
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			lines = append(lines, indent+"//")
		}
		lines = append(lines, gosource.Lines(paragraph, indent+"// ", indent+"// ")...)
	}
	return strings.TrimPrefix(strings.Join(lines, "\n"), indent)
}
