package main

import (
	"bytes"
	"encoding/json"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

func TestTheVersionIsPrinted(t *testing.T) {
	run := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		a := &app.App{Out: &stdout, Err: &stderr, Getenv: func(string) string { return "" }}
		root := &cobra.Command{Use: "moneymove"}
		root.AddCommand(versionCommand(a))
		require.Equal(t, app.ExitFine, a.Run(t.Context(), root, append([]string{"version"}, args...)), stderr.String())
		return stdout.String()
	}
	var printed version
	require.NoError(t, json.Unmarshal([]byte(run()), &printed))
	assert.Equal(t, moneymovement.Version, printed.Version)
	assert.Equal(t, runtime.Version(), printed.Go)
	assert.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, printed.System)
	assert.Contains(t, run("-o", "table"), "moneymove")
}

func TestModulesAreWhatIsLinked(t *testing.T) {
	v := readVersion(&debug.BuildInfo{
		Main: debug.Module{Path: "example.com/main", Version: "v1.0.0", Sum: "h1:a"},
		Deps: []*debug.Module{
			{Path: "example.com/other", Version: "v1.1.0", Sum: "h1:b"},
			{Path: "example.com/replaced", Version: "v1.2.0", Replace: &debug.Module{Path: "../replaced"}},
		},
	}, true)
	assert.Equal(t, []module{{"example.com/main", "v1.0.0", "h1:a"}, {"example.com/other", "v1.1.0", "h1:b"},
		{"../replaced", "", ""}}, v.Modules, "a folder in the place of a module shows")
	assert.Len(t, v.table().Rows, 5)
	assert.Empty(t, readVersion(nil, false).Modules)
}
