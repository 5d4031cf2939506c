package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// source is one hand-written file.
type source struct {
	Name    string // from the root, with slashes
	Path    string
	Text    string
	Mutants []*mutant // in the order of the text
}

// unit is a package whose files are changed.
type unit struct {
	ImportPath, Name, Dir string
	Sources               []*source
	Tests                 []testPackage // its own first, then its suites
}

// listed is a package as the go command lists it.
type listed struct {
	ImportPath, Name, Dir string
	GoFiles, Deps         []string
}

// list asks the go command for packages. It leaves out package recorded, which is for the tests of users, and internal
// packages that no other listed package imports.
func list(ctx context.Context, root string, patterns []string) ([]listed, error) {
	command := goCommand(ctx, root, testPackage{}, append([]string{"list", "-json=ImportPath,Name,Dir,GoFiles,Deps"},
		patterns...)...)
	command.Stderr = os.Stderr
	said, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []listed
	linked := map[string]bool{}
	for decoder := jsontext.NewDecoder(bytes.NewBuffer(said)); decoder.PeekKind() == '{'; {
		var one listed
		if err := json.UnmarshalDecode(decoder, &one); err != nil {
			return nil, err
		}
		all = append(all, one)
		if !strings.Contains(one.ImportPath+"/", "/internal/") && !strings.HasSuffix(one.ImportPath, "/recorded") {
			linked[one.ImportPath] = true
			for _, imported := range one.Deps {
				linked[imported] = true
			}
		}
	}
	return slices.DeleteFunc(all, func(one listed) bool { return !linked[one.ImportPath] }), nil
}

// load reads the hand-written files of packages, and finds the mutants in them.
func load(ctx context.Context, root string, o options) (units []*unit, err error) {
	all, err := list(ctx, root, o.packages)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		folder, err := filepath.Rel(root, one.Dir)
		if err != nil {
			return nil, err
		}
		folder = filepath.ToSlash(folder)
		u := &unit{ImportPath: one.ImportPath, Name: one.Name, Dir: one.Dir,
			Tests: append([]testPackage{{folder: folder}}, o.suites[folder]...)}
		for _, file := range one.GoFiles {
			if strings.HasSuffix(file, ".gen.go") {
				continue
			}
			s, err := readSource(root, filepath.Join(u.Dir, file))
			if err != nil {
				return nil, err
			}
			u.Sources = append(u.Sources, s)
		}
		units = append(units, u)
	}
	return units, nil
}

func readSource(root, path string) (*source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	s := &source{Name: filepath.ToSlash(name), Path: path, Text: string(text)}
	return s, s.find()
}

// find finds the mutants of a file, and names them.
func (s *source) find() error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, s.Name, s.Text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f := finder{file: files.File(file.Pos()), text: s.Text, negated: map[ast.Expr]bool{}}
	for _, declared := range file.Decls {
		f.declaration(declared)
	}
	slices.SortStableFunc(f.found, func(a, b *mutant) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to // an outer change comes first
	})
	s.Mutants = f.found
	seen := map[string]int{}
	for _, m := range s.Mutants {
		m.source = s
		id := fmt.Sprintf("%s %s: %s", s.Name, m.in, m.operator)
		if m.was != "" {
			id += ": " + m.was
		}
		if seen[id]++; seen[id] > 1 {
			id = fmt.Sprintf("%s #%d", id, seen[id])
		}
		m.ID = id
	}
	return nil
}

// draw sorts the requested mutants in the order of the seed. The place of each depends on its id only, so that new code
// hardly changes the sample.
func draw(units []*unit, o options, harmless map[string]bool) []*mutant {
	var drawn []*mutant
	for _, u := range units {
		for _, s := range u.Sources {
			for _, m := range s.Mutants {
				if m.unit = u; o.picked(s.Name) && !harmless[m.ID] && (o.again == "" || o.survivors[m.ID]) {
					drawn = append(drawn, m)
				}
			}
		}
	}
	place := func(m *mutant) string {
		sum := sha256.Sum256([]byte(o.seed + "\n" + m.ID))
		return hex.EncodeToString(sum[:])
	}
	slices.SortFunc(drawn, func(a, b *mutant) int { return strings.Compare(place(a), place(b)) })
	return drawn
}

// receiver returns a method's type without star and type parameters.
func receiver(function *ast.FuncDecl) string {
	if function.Recv == nil || len(function.Recv.List) == 0 {
		return ""
	}
	held := function.Recv.List[0].Type
	for {
		switch is := held.(type) {
		case *ast.StarExpr:
			held = is.X
		case *ast.IndexExpr:
			held = is.X
		case *ast.IndexListExpr:
			held = is.X
		case *ast.Ident:
			return is.Name + "."
		default:
			return ""
		}
	}
}
