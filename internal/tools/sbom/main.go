// Command sbom writes the modules of a Go program, as the program itself lists them, in CycloneDX:
//
//	sbom program        # the bill of materials, to standard output
//	sbom -list bill     # module and version of each component of a bill, a line each
//
// A bill has no time and no number of its own, so that the same program has the same bill. The bill has the program's
// checksum. It is in the tools' module, so that users of the SDK do not get its library.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	listed := flags.Bool("list", false, "list the modules of a bill")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() != 1:
		return errors.New("usage: sbom program | sbom -list bill")
	case *listed:
		return list(flags.Arg(0), out)
	default:
		return write(flags.Arg(0), out)
	}
}

func write(program string, out io.Writer) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	main := component(cyclonedx.ComponentTypeApplication, info.Main)
	main.Name = filepath.Base(program)
	sum := cyclonedx.Hash{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(content))}
	main.Hashes = &[]cyclonedx.Hash{sum}
	std := component(cyclonedx.ComponentTypeLibrary, debug.Module{Path: "std", Version: info.GoVersion})
	components := []cyclonedx.Component{std}
	for _, dependency := range info.Deps {
		if dependency.Replace != nil {
			dependency = dependency.Replace
		}
		components = append(components, component(cyclonedx.ComponentTypeLibrary, *dependency))
	}
	bill := cyclonedx.NewBOM()
	bill.Metadata = &cyclonedx.Metadata{Component: &main}
	bill.Components = &components
	return cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bill)
}

func component(kind cyclonedx.ComponentType, m debug.Module) cyclonedx.Component {
	address := "pkg:golang/" + m.Path + "@" + m.Version
	return cyclonedx.Component{BOMRef: address, Type: kind, Name: m.Path, Version: m.Version, PackageURL: address}
}

func list(bill string, out io.Writer) error {
	file, err := os.Open(bill)
	if err != nil {
		return err
	}
	defer file.Close()
	var read cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(file, cyclonedx.BOMFileFormatJSON).Decode(&read); err != nil {
		return err
	}
	if read.BOMFormat != cyclonedx.BOMFormat || read.Metadata == nil || read.Metadata.Component == nil ||
		read.Components == nil {
		return errors.New("the file is no CycloneDX bill of a program")
	}
	for _, c := range *read.Components {
		if _, err := fmt.Fprintf(out, "%s %s\n", c.Name, c.Version); err != nil {
			return err
		}
	}
	return nil
}
