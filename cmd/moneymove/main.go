// Command moneymove runs a sandbox host of the money-movement service on this machine, for tests in any language and
// for first steps. It controls the running host, and calls any host of the service.
//
//	go run github.com/moneymovement/moneymovement-go/cmd/moneymove@latest sandbox -control
//	moneymove -h
//
// The page docs/moneymove.md lists every command, flag and exit code:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/moneymove.md
//
// The glossary of the service's words:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/control"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/host"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/keys"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/paymentstore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), ends()...)
	code := run(ctx, app.System(), os.Args[1:])
	stop()
	os.Exit(code)
}

// ends returns the signals that end a command in order, so that it removes what it has made. The end of a terminal is
// one, unless the command was started to outlive it, as with nohup.
func ends() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

// run runs a command until it ends or ctx ends, and returns the exit code.
func run(ctx context.Context, a *app.App, args []string) int { return a.Run(ctx, root(a), args) }

// docs is where the documentation is.
const docs = "https://github.com/moneymovement/moneymovement-go/blob/main/docs/"

// root returns the command with all its subcommands.
func root(a *app.App) *cobra.Command {
	command := &cobra.Command{
		Use:     "moneymove",
		Version: moneymovement.Version,
		Short:   "Run a sandbox host of the money-movement service, and call any host of it",
		Long: `Runs a sandbox host of the money-movement service on this machine, looks into a
running host, and calls any host.

  First steps            ` + docs + `README.md
  Every command          ` + docs + `moneymove.md
  Errors, what to do     ` + docs + `errors.md
  The service's words    ` + docs + `glossary.md
  Payments in production ` + docs + `production.md`,
	}
	keyGroup := &cobra.Command{Use: "keys",
		Short: "Developer keys: those in files, and those that the sandbox host knows"}
	keyGroup.AddCommand(keys.Commands(a)...)
	keyGroup.AddCommand(control.KeyCommands(a)...)
	command.AddCommand(control.SandboxCommand(a), versionCommand(a), keyGroup, paymentstore.Command(a))
	command.AddCommand(control.Commands(a)...)
	command.AddCommand(host.Commands(a)...)
	command.AddCommand(referenceCommand(a))
	return command
}

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
