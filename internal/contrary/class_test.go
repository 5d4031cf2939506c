package contrary_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/contrary"
)

func TestEveryMarkHasAClass(t *testing.T) {
	d := describe(t)
	marks, err := contrary.Derive(d)
	require.NoError(t, err)
	require.Len(t, marks, len(d.Assumptions))
	counts := map[contrary.Class]int{}
	for _, m := range marks {
		for _, c := range m.Classes {
			counts[c]++
		}
	}
	t.Log(len(marks), counts)
}
