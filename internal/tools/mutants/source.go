package main

import (
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

// unit is a package that is mutated.
type unit struct {
	ImportPath, Name, Dir string
	Sources               []*source
	Tests                 []testPackage // its own first, then its suites
}

// load reads the hand-written files of packages, and finds what can be changed in them.
func load(ctx context.Context, root string, o options) ([]*unit, error) {
	list := goCommand(ctx, root, testPackage{}, append([]string{"list", "-json=ImportPath,Name,Dir,GoFiles"}, o.packages...)...)
	list.Stderr = os.Stderr
	listed, err := list.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := list.Start(); err != nil {
		return nil, err
	}
	decoder := jsontext.NewDecoder(listed)
	var units []*unit
	for decoder.PeekKind() == '{' {
		var found struct {
			ImportPath, Name, Dir string
			GoFiles               []string
		}
		if err := json.UnmarshalDecode(decoder, &found); err != nil {
			return nil, err
		}
		folder, err := filepath.Rel(root, found.Dir)
		if err != nil {
			return nil, err
		}
		if folder = filepath.ToSlash(folder); slices.Contains(o.leftAlone, folder) {
			continue
		}
		u := &unit{ImportPath: found.ImportPath, Name: found.Name, Dir: found.Dir, Tests: append([]testPackage{{folder: folder}}, o.suites[folder]...)}
		for _, file := range found.GoFiles {
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
	return units, list.Wait()
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

// find fills in the mutants of a file, and names them.
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
		return b.to - a.to // what encloses comes first
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

// draw puts the mutants that were asked for in the order of the seed. Each one's place follows from its id, so that the sample hardly moves
// when code is added.
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

// receiver is a method's type as a reader writes it, without star and type parameters.
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
