// Command ruletable writes docs/rules.md: every rule that the service description states for the platform API, with the
// tests that hold it, for the sandbox host and for the SDK. It fails if a rule lacks a required test, or if a test
// names an unknown rule.
//
// Run it with `go generate ./internal/test/rules`.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "folder of the module")
	output := flag.String("o", "docs/rules.md", "file to write, from the root")
	flag.Parse()
	if err := run(*root, *output); err != nil {
		fmt.Fprintln(os.Stderr, "ruletable:", err)
		os.Exit(1)
	}
}

func run(root, output string) error {
	page, err := generate(os.DirFS(root))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, output), page, 0o644)
}

// generate reads the rules and the tests of a module. The same files always give the same bytes.
func generate(module fs.FS) ([]byte, error) {
	sections, err := readRules(module)
	if err != nil {
		return nil, err
	}
	tests, err := readTests(module)
	if err != nil {
		return nil, err
	}
	held, err := hold(sections, tests)
	if err != nil {
		return nil, err
	}
	return render(sections, held), nil
}
