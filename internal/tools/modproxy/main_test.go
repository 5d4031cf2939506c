package main

import (
	"archive/zip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const version = "v0.1.0"

var tree = map[string]string{
	".gitignore":         "*.out\n",
	"go.mod":             "module example.test/Root\n\ngo 1.26\n",
	"root.go":            "package root\n",
	"a b/ä.txt":          "a name with a space\n",
	"removed.go":         "package root\n\nvar removed = 1\n",
	"built.out":          "ignored\n",
	"nested/go.mod":      "module example.test/Root/nested\n\ngo 1.26\n\nrequire example.test/Root v0.1.0\n",
	"nested/nested.go":   "package nested\n\nimport _ \"example.test/Root\"\n",
	"nested/sub/sub.go":  "package sub\n",
	"nested/sub/x.out":   "ignored\n",
	"nestedbeside/b.go":  "package nestedbeside\n",
	"empty/go.mod":       "module example.test/Root/empty\n",
	"empty/.gitignore":   "*\n",
	"unnamed/go.mod":     "go 1.26\n",
	"misnamed/go.mod":    "module \"example.test/a b\"\n",
	"nomodule/readme.md": "no module\n",
}

// repository commits the tree, and changes it afterwards.
func repository(t *testing.T) (root string) {
	t.Helper()
	withoutConfiguration(t)
	root = t.TempDir()
	for name, text := range tree {
		write(t, filepath.Join(root, name), text)
	}
	for _, words := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.test", "commit", "-q", "-m",
			"all"},
	} {
		command := exec.CommandContext(t.Context(), "git", words...)
		command.Dir = root
		said, err := command.CombinedOutput()
		require.NoError(t, err, "git %s: %s", words, said)
	}
	require.NoError(t, os.Remove(filepath.Join(root, "removed.go")))
	write(t, filepath.Join(root, "root.go"), "package root\n\nvar Changed = 1\n")
	write(t, filepath.Join(root, "new.go"), "package root\n\nvar New = 1\n")
	return root
}

// withoutConfiguration keeps what the user or a hook set for git out of a test.
func withoutConfiguration(t *testing.T) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, "") // which puts it back when the test is over
			require.NoError(t, os.Unsetenv(name))
		}
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func TestWhatIsServedIsTheTreeAsItIs(t *testing.T) {
	root, out := repository(t), t.TempDir()
	for folder, want := range map[string]struct {
		versions, prefix string
		files            []string
	}{
		".": {"example.test/!root/@v", "example.test/Root@v0.1.0/", []string{
			".gitignore", "a b/ä.txt", "go.mod", "nestedbeside/b.go", "new.go", "nomodule/readme.md", "root.go",
		}},
		"nested": {"example.test/!root/nested/@v", "example.test/Root/nested@v0.1.0/",
			[]string{"go.mod", "nested.go", "sub/sub.go"}},
	} {
		require.NoError(t, serve(t.Context(), root, folder, version, out))
		at := filepath.Join(out, filepath.FromSlash(want.versions))
		assert.Equal(t, version+"\n", read(t, filepath.Join(at, "list")))
		assert.Equal(t, tree[filepath.ToSlash(filepath.Join(folder, "go.mod"))],
			read(t, filepath.Join(at, version+".mod")))
		var info struct {
			Version string
			Time    time.Time
		}
		require.NoError(t, json.Unmarshal([]byte(read(t, filepath.Join(at, version+".info"))), &info))
		assert.Equal(t, version, info.Version)
		assert.WithinDuration(t, time.Now(), info.Time, time.Hour)

		archive, err := zip.OpenReader(filepath.Join(at, version+".zip"))
		require.NoError(t, err)
		texts := map[string]string{}
		var names []string
		for _, file := range archive.File {
			opened, err := file.Open()
			require.NoError(t, err)
			text, err := io.ReadAll(opened)
			require.NoError(t, err)
			texts[file.Name] = string(text)
			names = append(names, file.Name)
		}
		require.NoError(t, archive.Close())
		slices.Sort(names)
		for i, name := range want.files {
			want.files[i] = want.prefix + name
		}
		assert.Equal(t, want.files, names)
		if folder == "." {
			assert.Contains(t, texts[want.prefix+"root.go"], "Changed", "what is not committed counts")
		}
	}
}

// The go command takes the folder for a proxy.
func TestTheGoCommandTakesIt(t *testing.T) {
	root, out := repository(t), t.TempDir()
	for _, folder := range []string{".", "nested"} {
		require.NoError(t, serve(t.Context(), root, folder, version, out))
	}
	user := t.TempDir()
	write(t, filepath.Join(user, "go.mod"), "module example.test/user\n\ngo 1.26\n")
	write(t, filepath.Join(user, "user.go"), "package user\n\nimport _ \"example.test/Root/nested\"\n")
	for _, words := range [][]string{{"get", "example.test/Root/nested@latest"}, {"vet", "."}} {
		command := exec.CommandContext(t.Context(), "go", words...)
		command.Dir = user
		command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-modcacherw", "GONOSUMDB=example.test",
			"GONOPROXY=none",
			"GOPROXY=file://"+filepath.ToSlash(out), "GOMODCACHE="+filepath.Join(user, "cache"))
		said, err := command.CombinedOutput()
		require.NoError(t, err, "go %s: %s", words, said)
	}
	assert.Contains(t, read(t, filepath.Join(user, "go.mod")), "example.test/Root/nested v0.1.0")
}

func TestWhatCannotBeServed(t *testing.T) {
	root := repository(t)
	for folder, want := range map[string]string{
		"nomodule": "go.mod",
		"unnamed":  "malformed module path",
		"misnamed": "malformed module path",
		"empty":    "git would commit no file of it",
		"nowhere":  "go.mod",
	} {
		require.ErrorContains(t, serve(t.Context(), root, folder, version, t.TempDir()), want, folder)
	}
	require.ErrorContains(t, serve(t.Context(), root, ".", "next", t.TempDir()), "version")

	alone := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(alone))
	write(t, filepath.Join(alone, "go.mod"), tree["go.mod"])
	require.ErrorContains(t, serve(t.Context(), alone, ".", version, t.TempDir()), "git ls-files")
}
