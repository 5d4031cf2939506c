// Command errorcatalogue writes the Go types of the error catalogue, errors/slugs.gen.go, from openapi/errors.yaml.
//
// It is run by `go generate ./errors`.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	in := flag.String("in", "../openapi/errors.yaml", "the catalogue to read")
	out := flag.String("out", "slugs.gen.go", "the Go file to write")
	flag.Parse()

	if err := run(*in, *out); err != nil {
		fmt.Fprintln(os.Stderr, "errorcatalogue:", err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	source, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	catalogue, err := parse(source)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	code, err := render(catalogue)
	if err != nil {
		return err
	}
	return os.WriteFile(out, code, 0o644)
}
