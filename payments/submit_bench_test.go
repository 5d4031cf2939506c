package payments

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

// BenchmarkSubmit shows what Submit costs without a disk.
func BenchmarkSubmit(b *testing.B) {
	key, err := signing.Generate()
	require.NoError(b, err)
	integrator, err := dapi.NewIntegrator("http://127.0.0.1", dapi.Developer{Email: "a@example.com", Key: key})
	require.NoError(b, err)
	processor, err := New(NewMemoryStore(), Integrator(integrator), Config{})
	require.NoError(b, err)
	payment := wholePayment()
	payment.Deadline = time.Now().Add(time.Hour)
	n := 0
	for b.Loop() {
		payment.Key = moneymovement.Key(fmt.Sprintf("invoice-%09d", n))
		n++
		_, err := processor.Submit(b.Context(), payment)
		require.NoError(b, err)
	}
}
