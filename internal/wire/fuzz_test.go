package wire

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// FuzzAnswer reads any bytes in each form. Complete values that the strict decoder reads are read in the same way.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(object(described())))
	f.Add([]byte(`{"items":[{"id":"p_1","size":"7"},null],"nextCursor":7}`))
	f.Add([]byte(`[{"id":1}]`))
	f.Add([]byte(`{"data":[[]],"\u0069d":"\ud83d\ude00"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var got, strict resource
		unread, err := read(body, &got, &resourceShape)
		if codec.Unmarshal(body, &strict, decoding) == nil && err == nil && len(unread) == 0 && strict.ID != "" {
			strict.Choice.raw, got.Choice.raw = nil, nil
			if strict.Tags == nil && got.Tags != nil {
				strict.Tags = got.Tags // null for an empty list
			}
			if strict.Parts == nil && got.Parts != nil {
				strict.Parts = got.Parts
			}
			require.Equal(t, strict, got, "%s", body)
		}
		if err == nil {
			require.NoError(t, Valid(body))
			require.NotEmpty(t, got.ID)
		}
		_, _ = read(body, &list{}, &listShape)
		_, _ = read(body, &[]part{}, &Shape{Kind: KindList, Item: &partShape})
		_ = listShape.Shows(body)
	})
}
