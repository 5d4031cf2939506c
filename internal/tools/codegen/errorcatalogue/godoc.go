package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/moneymovement/moneymovement-go"

// goDoc is the documentation of Go packages: of types and values by "package.Name", of methods by
// "package.Type.Method".
type goDoc struct {
	texts map[string]string
	// values are the exported error values of a package, in alphabetical order.
	values map[string][]string
}

// readGoDoc reads the documentation of the packages in folders. The last part of a folder is the package's name.
func readGoDoc(root string, folders []string) (*goDoc, error) {
	d := &goDoc{texts: map[string]string{}, values: map[string][]string{}}
	for _, folder := range folders {
		if err := d.read(filepath.Join(root, folder)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *goDoc) read(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, filepath.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
	}
	if len(parsed) == 0 {
		return fmt.Errorf("%s: no Go files", folder)
	}
	pkg, err := doc.NewFromFiles(files, parsed, module+"/"+filepath.Base(folder))
	if err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	for _, t := range pkg.Types {
		d.texts[pkg.Name+"."+t.Name] = t.Doc
		for _, m := range t.Methods {
			d.texts[pkg.Name+"."+t.Name+"."+m.Name] = m.Doc
		}
	}
	for _, v := range pkg.Vars {
		for _, spec := range v.Decl.Specs {
			if values, ok := spec.(*ast.ValueSpec); ok {
				d.addValues(pkg.Name, values)
			}
		}
	}
	slices.Sort(d.values[pkg.Name])
	return nil
}

func (d *goDoc) addValues(packageName string, spec *ast.ValueSpec) {
	for _, name := range spec.Names {
		if strings.HasPrefix(name.Name, "Err") {
			d.texts[packageName+"."+name.Name] = spec.Doc.Text()
			d.values[packageName] = append(d.values[packageName], name.Name)
		}
	}
}

// markdown returns the documentation of a name as Markdown. It links names that the page explains.
func (d *goDoc) markdown(name string, anchors map[string]string) string {
	packageName, _, _ := strings.Cut(name, ".")
	linked := &comment.Parser{
		LookupPackage: func(name string) (string, bool) { return name, name != "" },
		LookupSym:     func(string, string) bool { return true },
	}
	printer := &comment.Printer{
		DocLinkURL: func(link *comment.DocLink) string {
			of := packageName
			if link.ImportPath != "" {
				of = filepath.Base(link.ImportPath)
			}
			if at := anchors[of+"."+link.Name]; at != "" && link.Recv == "" {
				return "#" + at
			}
			return ""
		},
	}
	text, _, _ := strings.Cut(d.texts[name], "\nSee "+pageURL("")) // the text becomes a part of that page
	return plain.Replace(strings.TrimSpace(string(printer.Markdown(linked.Parse(text)))))
}

// plain removes the escapes of characters that Go comments and Markdown write alike.
var plain = strings.NewReplacer("\\`", "`", `\_`, "_")

// sentence returns the documentation of a name on one line.
func (d *goDoc) sentence(name string, anchors map[string]string) string {
	return strings.Join(strings.Fields(d.markdown(name, anchors)), " ")
}
