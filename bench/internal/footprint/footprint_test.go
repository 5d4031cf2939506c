package footprint

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSizesAreAddedUpByModule(t *testing.T) {
	modules := modulesOf("fmt \nexample.com/a.b/decimal example.com/a.b\ngopkg.example/yaml.v3 gopkg.example/yaml.v3\n")
	sizes := byModule(`  401000     64 T fmt.Println
  402000    100 T example.com/a.b/decimal.New
  402100     50 t example.com/a.b/decimal.(*Decimal).String
  402200     25 T example.com/a.b/decimal.Sum[go.shape.struct { x/y.z }]
  403000      7 R gopkg.example/yaml%2ev3.table
  404000   9999 B fmt.buffer
  405000     11 R type:.eq.fmt.pp
  406000      3 U
`, modules)
	assert.Equal(t, map[string]int64{standard: 64, "example.com/a.b": 175, "gopkg.example/yaml.v3": 7}, sizes)
}

// Each program reads its resource, and prints it.
func TestProgramsRun(t *testing.T) {
	t.Chdir("../..")
	names := []string{"raw", "sdk"} // the others take long to build
	programs, err := Measure(t.Context(), Plan{Programs: names, Starts: 2})
	require.NoError(t, err)
	require.Len(t, programs, len(names))
	for _, p := range programs {
		assert.Positive(t, p.Binary)
		assert.Positive(t, p.Packages)
		assert.Positive(t, p.First.Median)
		assert.Zero(t, p.Build)
	}
	assert.Zero(t, programs[0].Modules)
	assert.Greater(t, programs[1].Binary, programs[0].Binary)
	assert.Greater(t, programs[1].Modules, 3)
}
