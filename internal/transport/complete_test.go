package transport

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestASuccessHoldsWhatTellsTheResource(t *testing.T) {
	type resource struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	type page struct {
		Items      []resource `json:"items"`
		NextCursor string     `json:"nextCursor,omitempty,omitzero"`
	}
	type view struct { // of which nothing is required
		ID    string     `json:"id,omitempty,omitzero"`
		Items []resource `json:"items,omitempty,omitzero"`
	}
	assert.NoError(t, complete(&resource{ID: "x_1"}))
	assert.EqualError(t, complete(&resource{Name: "Bob"}), "answer has no id")
	assert.NoError(t, complete(&page{Items: []resource{}}))
	assert.EqualError(t, complete(&page{NextCursor: "c"}), "answer has no items")
	assert.NoError(t, complete(&view{}))
	list, text := []resource(nil), ""
	assert.NoError(t, complete(&list))
	assert.NoError(t, complete(&text))
}
