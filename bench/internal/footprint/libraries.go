package footprint

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/moneymovement/moneymovement-go/bench/internal/report"
)

// standard is the name of the standard library among the modules.
const standard = "standard library, beyond raw"

// Libraries returns the share of each module in the binary of the SDK's program, the greatest first. It adds up the
// sizes of the symbols. Symbols that belong to no package, such as descriptions of types, are left out.
func Libraries(ctx context.Context) ([]report.Library, error) {
	sdk, err := shares(ctx, "sdk")
	if err != nil {
		return nil, err
	}
	raw, err := shares(ctx, "raw")
	if err != nil {
		return nil, err
	}
	sdk[standard] -= raw[standard]
	var libraries []report.Library
	for name, size := range sdk {
		libraries = append(libraries, report.Library{Name: name, Bytes: size})
	}
	slices.SortFunc(libraries, func(x, y report.Library) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Name, y.Name))
	})
	return libraries, nil
}

// shares builds a program with its symbols, and adds up their sizes by module.
func shares(ctx context.Context, name string) (map[string]int64, error) {
	folder, err := os.MkdirTemp("", "symbols")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, name)
	if _, err := Go(ctx, "build", "-o", binary, "./programs/"+name); err != nil {
		return nil, err
	}
	listed, err := Go(ctx, "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}",
		"./programs/"+name)
	if err != nil {
		return nil, err
	}
	symbols, err := Go(ctx, "tool", "nm", "-size", binary)
	if err != nil {
		return nil, err
	}
	return byModule(symbols, modulesOf(listed)), nil
}

// modulesOf maps packages to their modules.
func modulesOf(listed string) map[string]string {
	modules := map[string]string{}
	for line := range strings.Lines(listed) {
		path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		modules[path] = cmp.Or(module, standard)
	}
	return modules
}

// byModule adds up the sizes of code and data. What the file does not hold (types b and B) has no size in it.
func byModule(symbols string, modules map[string]string) map[string]int64 {
	sizes := map[string]int64{}
	for line := range strings.Lines(symbols) {
		fields := strings.Fields(line) // address, size, type, name
		if len(fields) < 4 || !strings.Contains("tTrRdD", fields[2]) {
			continue
		}
		size, err := strconv.ParseInt(fields[1], 10, 64)
		if module := modules[packageOf(fields[3])]; err == nil && module != "" {
			sizes[module] += size
		}
	}
	return sizes
}

// packageOf returns the package of a symbol. In the last element of a path, a dot is written as %2e.
func packageOf(symbol string) string {
	symbol, _, _ = strings.Cut(symbol, "[")
	symbol, _, _ = strings.Cut(symbol, "(")
	slash := strings.LastIndexByte(symbol, '/') + 1
	last, _, _ := strings.Cut(symbol[slash:], ".")
	return symbol[:slash] + strings.ReplaceAll(last, "%2e", ".")
}
