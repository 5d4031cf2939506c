package main

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/modfile"
)

// inTree lists the tests, fuzz targets and examples with an output of all modules below a folder, if they are built on
// this machine.
func inTree(root string, race bool) (map[string]bool, error) {
	root = filepath.Clean(root)
	here := build.Default
	if race {
		here.BuildTags = append(here.BuildTags, "race")
	}
	found, modules := map[string]bool{}, map[string]string{} // the folder of a module, and the path of its packages
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); file != root &&
				(name[0] == '.' || name[0] == '_' || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			return packagesOf(file, modules)
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		folder, name := filepath.Split(file)
		if built, err := here.MatchFile(folder, name); err != nil || !built {
			return err
		}
		return testsOf(file, modules[filepath.Clean(folder)], found)
	})
	return found, err
}

// packagesOf notes the import path of a folder: that of its module, or a path below that of its parent folder.
func packagesOf(folder string, modules map[string]string) error {
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	switch {
	case err == nil:
		modules[folder] = modfile.ModulePath(text)
	case os.IsNotExist(err):
		modules[folder] = path.Join(modules[filepath.Dir(folder)], filepath.Base(folder))
	default:
		return err
	}
	return nil
}

func testsOf(file, importPath string, found map[string]bool) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, declared := range parsed.Decls {
		f, is := declared.(*ast.FuncDecl)
		if is && f.Recv == nil && f.Name.Name != "TestMain" &&
			(named(f.Name.Name, "Test") || named(f.Name.Name, "Fuzz")) {
			found[importPath+"."+f.Name.Name] = true
		}
	}
	for _, example := range doc.Examples(parsed) {
		if example.Output != "" || example.EmptyOutput {
			found[importPath+".Example"+example.Name] = true
		}
	}
	return nil
}

// named reports a name that go test runs: TestX and Test_x, and not Testing.
func named(name, kind string) bool {
	rest, is := strings.CutPrefix(name, kind)
	first, _ := utf8.DecodeRuneInString(rest)
	return is && !unicode.IsLower(first)
}
