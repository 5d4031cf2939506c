package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// version is what the command prints.
type version struct {
	Version string   `json:"version"` // of the SDK and the command, which are released together
	Go      string   `json:"go"`
	System  string   `json:"system"` // such as linux/amd64
	Modules []module `json:"modules"`
}

// module is a module that the command is linked from. A sum is missing if the module was built from a folder.
type module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum,omitzero"`
}

// versionCommand returns the command.
func versionCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the Go release, and the modules with their checksums",
		Long: `Prints the version, the Go release that built the command, and each module that it is linked from, with the checksum
that a go.sum has for it.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := readVersion(debug.ReadBuildInfo())
			return a.Print(v, v.table)
		},
	}
}

// readVersion takes the modules from what the linker noted. A binary without notes has none.
func readVersion(info *debug.BuildInfo, ok bool) version {
	v := version{Version: moneymovement.Version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Modules: []module{}}
	if !ok {
		return v
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Replace != nil {
			m = m.Replace
		}
		v.Modules = append(v.Modules, module{m.Path, m.Version, m.Sum})
	}
	return v
}

func (v version) table() app.Table {
	rows := [][]string{{"moneymove", v.Version, ""}, {"go", v.Go, v.System}}
	for _, m := range v.Modules {
		rows = append(rows, []string{m.Path, m.Version, m.Sum})
	}
	return app.Table{Rows: rows}
}
