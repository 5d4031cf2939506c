// Command table writes openapi/README.md. For every assumption of the descriptions, the page has its reason, its
// class, and what the SDK does if it is wrong.
//
// Run it with `go generate ./internal/test/contrary`.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
	"github.com/moneymovement/moneymovement-go/openapi"
)

func main() {
	output := flag.String("o", "README.md", "file to write")
	flag.Parse()
	if err := run(*output); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(output string) error {
	description, err := wire.Read(openapi.Files)
	if err != nil {
		return err
	}
	page, err := contrary.Page(description)
	if err != nil {
		return err
	}
	return os.WriteFile(output, page, 0o644)
}
