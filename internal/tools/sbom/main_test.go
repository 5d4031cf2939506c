package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The program of this test is a Go program as any other.
func TestABillListsTheModulesOfTheProgram(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	var first, second bytes.Buffer
	require.NoError(t, run([]string{program}, &first))
	require.NoError(t, run([]string{program}, &second))
	assert.Equal(t, first.String(), second.String(), "a bill has no time and no number of its own")

	file := filepath.Join(t.TempDir(), "bill")
	require.NoError(t, os.WriteFile(file, first.Bytes(), 0o600))
	var listed bytes.Buffer
	require.NoError(t, run([]string{"-list", file}, &listed))
	info, ok := debug.ReadBuildInfo()
	require.True(t, ok)
	require.NotEmpty(t, info.Deps)
	want := []string{"std " + runtime.Version()}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		want = append(want, m.Path+" "+m.Version)
	}
	assert.ElementsMatch(t, want, strings.Split(strings.TrimRight(listed.String(), "\n"), "\n"))

	content, err := os.ReadFile(program)
	require.NoError(t, err)
	var bill cyclonedx.BOM
	require.NoError(t, cyclonedx.NewBOMDecoder(&first, cyclonedx.BOMFileFormatJSON).Decode(&bill))
	sum := cyclonedx.Hash{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(content))}
	assert.Equal(t, []cyclonedx.Hash{sum}, *bill.Metadata.Component.Hashes, "the bill is of this program and no other")
}

func TestWhatIsNoProgramAndNoBill(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, []byte("{}"), 0o600))
	for _, args := range [][]string{{other}, {"-list", other}, {filepath.Join(t.TempDir(), "nowhere")}, {}, {"-list"}} {
		require.Error(t, run(args, &bytes.Buffer{}), args)
	}
}
