package contrary_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/openapi"
)

var descriptions = sync.OnceValues(func() (*wire.Description, error) { return wire.Read(openapi.Files) })

// describe is the description, which is read once.
func describe(t *testing.T) *wire.Description {
	t.Helper()
	d, err := descriptions()
	require.NoError(t, err)
	return d
}

func TestEveryOperationIsCalled(t *testing.T) {
	d := describe(t)
	for _, o := range d.Operations {
		t.Run(o.Name(), func(t *testing.T) {
			made := callOf(o)
			require.NotNil(t, made)
			c := newCall(t, o, sampleService{description: d})
			c.ask(nil)
			value, err := made(c)
			require.NoError(t, err)
			assertAllRead(t, c, value)
		})
	}
}

// assertAllRead: the value has every member of the answer.
func assertAllRead(t *testing.T, c *call, value any) {
	t.Helper()
	if isLogin(c.operation) || len(c.answer.Body) == 0 || c.operation.ID == "RenderInvoicePDF" {
		return
	}
	whole, err := decode(c.answer.Body)
	require.NoError(t, err)
	got := tree(t, value)
	if name, part := shownPart(whole, got); part {
		whole = member(whole, name)
	}
	assert.Empty(t, joined(differences(filled(whole), got, nil)), "%s\n%s", c.answer.Body, encode(got))
}
