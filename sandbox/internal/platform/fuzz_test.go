package platform_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Whatever a contact is made of, it is refused, or it can be shown and judged.
func FuzzCreateContact(f *testing.F) {
	for _, seed := range []string{
		sepaContact, achContact, baseContact, farContact, `{"email":"ops@example.com"}`, `{"account":[]}`,
		`{"account":{"accountType":7}}`,
		`{"name":"é","account":{"accountType":"pix","pixKey":"jééé@é"}}`,
		`{"bank":{"method":"ach","currency":"USD","fields":{"accountNumber":{}},"holder":{"name":[]}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := newBench(t)
		var body platformwire.ContactCreate
		if json.Unmarshal([]byte(text), &body) != nil {
			t.Skip("not an input: a body that is no contact does not pass the gate; " +
				"the seeds that are one are run by make test")
		}
		response, err := b.CreateContact(b.as(wire.Self, ""), body)
		if err != nil {
			var refusal *wire.Refusal
			require.ErrorAs(t, err, &refusal)
			return
		}
		created := read[platformwire.Contact](t, render(t, response))
		if *b.capabilities(wire.Self, created.ID).Payable {
			_, err = b.book(wire.Self, "", order(created.ID, "50"))
			require.NoError(t, err)
		}
	})
}

// No cursor breaks a list: it continues the list, or it is refused.
func FuzzCursor(f *testing.F) {
	seeding := newBench(f)
	seeding.depositMany(wire.Self, 3)
	page, err := seeding.transactions(wire.Self, platformwire.ListTransactionsParams{Limit: 1})
	require.NoError(f, err)
	f.Add(page.NextCursor)
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, cursor string) {
		b := newBench(t)
		b.depositMany(wire.Self, 3)
		_, err := b.transactions(wire.Self, platformwire.ListTransactionsParams{Cursor: cursor})
		if err != nil && !errors.Is(err, wire.InvalidCursor()) {
			t.Fatal(err)
		}
	})
}
