package model_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/model"
)

// A member of an update is absent, null or a value, an empty one included.
func TestAMemberOfAnUpdateHasThreeStates(t *testing.T) {
	type update struct {
		Name model.Nullable[string] `json:"name,omitempty"`
	}
	for want, sent := range map[string]update{
		`{}`: {}, `{"name":null}`: {model.Null[string]()}, `{"name":""}`: {model.Set("")},
		`{"name":"Bob"}`: {model.Set("Bob")},
	} {
		body, err := json.Marshal(sent)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(body))
	}
}
