package platform

import (
	"net/url"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/openapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// A status that the description gains has its moves here, unless it is final.
func TestEveryPayoutStatusHasItsMoves(t *testing.T) {
	loader := openapi3.NewLoader()
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, location *url.URL) ([]byte, error) {
		return openapi.Files.ReadFile(location.Path)
	}
	described, err := loader.LoadFromURI(&url.URL{Path: "dapi.yaml"})
	require.NoError(t, err)
	statuses := described.Components.Schemas["PayoutStatus"].Value
	classes := statuses.Extensions["x-classes"].(map[string]any)
	require.NotEmpty(t, statuses.Enum)
	for _, status := range statuses.Enum {
		moves := payoutStates.moves(platformwire.PayoutStatus(status.(string)))
		assert.True(t, len(moves) > 0 || slices.Contains(classes[status.(string)].([]any), "final"),
			"%s: payoutStates says nothing of it", status)
	}
}
