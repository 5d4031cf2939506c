// Command assumptions writes openapi/README.md. For every file of the folder, the page says how much of it the service
// description states, and lists every assumption with its place and its reason.
//
// Run it with `make generate`.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/openapi"
)

//go:generate go run . -o ../../../../openapi/README.md

func main() {
	output := flag.String("o", "README.md", "file to write")
	flag.Parse()
	if err := run(openapi.Files, *output); err != nil {
		fmt.Fprintln(os.Stderr, "assumptions:", err)
		os.Exit(1)
	}
}

func run(files fs.FS, output string) error {
	page, err := report(files)
	if err != nil {
		return err
	}
	return os.WriteFile(output, page, 0o644)
}

// report reads the YAML files and renders the page. The same files always give the same bytes.
func report(files fs.FS) ([]byte, error) {
	described, err := wire.Read(files)
	if err != nil {
		return nil, err
	}
	return render(surveys(described)), nil
}
