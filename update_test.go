package moneymovement_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// A member of an update is absent, null or a value, an empty one included.
func TestAMemberOfAnUpdateHasThreeStates(t *testing.T) {
	type update struct {
		Name moneymovement.Nullable[string] `json:"name,omitempty"`
	}
	for want, sent := range map[string]update{
		`{}`: {}, `{"name":null}`: {moneymovement.Null[string]()}, `{"name":""}`: {moneymovement.Set("")}, `{"name":"Bob"}`: {moneymovement.Set("Bob")},
	} {
		body, err := json.Marshal(sent)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(body))
	}
}
