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
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
