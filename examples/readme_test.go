package examples_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The Go code of the project's README compiles, except for unused variables: the reader decides what to do with an
// error.
func TestTheCodeOfTheReadmeCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the time to compile the code of the README, which -short does not give; make test runs it")
	}
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```go\n(.+?)```").FindAllStringSubmatch(string(readme), -1)
	require.Len(t, blocks, 2)
	imports, use, ok := strings.Cut(blocks[0][1], "\n)\n")
	require.True(t, ok)

	folder := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {}}
	for name, code := range map[string]string{
		"use.go": `package readme; import "context"; ` + imports + "\n)\nfunc _(ctx context.Context) {" + use + "}",
		"test.go": `package readme; import ("net/http"; "net/http/httptest"; "testing"; "github.com/shopspring/decimal"
			"github.com/moneymovement/moneymovement-go/dapi"; "github.com/moneymovement/moneymovement-go/sandbox")` + "\n" + blocks[1][1],
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(code), 0o600))
		inTree, err := filepath.Abs(filepath.Join("internal", "readme", name))
		require.NoError(t, err)
		overlay["Replace"][inTree] = filepath.Join(folder, name)
	}
	content, err := json.Marshal(overlay)
	require.NoError(t, err)
	overlayFile := filepath.Join(folder, "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, content, 0o600))
	said, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-overlay", overlayFile,
		"./internal/readme").CombinedOutput()

	var problems []string
	for line := range strings.Lines(string(said)) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "declared and not used") {
			problems = append(problems, line)
		}
	}
	assert.Empty(t, problems)
	assert.NotContains(t, string(said), "no Go files", "%v", err)
}
