package described_test

import (
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/described"
)

// Every operation can be read, by several callers at once. They get the same document.
func TestEveryOperationIsReadOnce(t *testing.T) {
	for _, surface := range []func() described.Operations{described.Platform, described.App, described.Reference,
		described.Public} {
		require.NotEmpty(t, surface())
		for name, operation := range surface() {
			var read [8]*openapi3.T
			var all sync.WaitGroup
			for i := range read {
				all.Go(func() { read[i], _ = operation() })
			}
			all.Wait()
			require.NotNil(t, read[0], name)
			for _, document := range read {
				assert.Same(t, read[0], document, name)
			}
			assert.Equal(t, 1, read[0].Paths.Len(), name)
		}
	}
}
