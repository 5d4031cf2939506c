package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestReword(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"type":                 {"// Payout A departure of money.\ntype Payout struct {", "// Payout: a departure of money.\ntype Payout struct {"},
		"acronym":              {"// ChainID EVM id.\ntype ChainID = int64", "// ChainID: EVM id.\ntype ChainID = int64"},
		"field":                {"\t// ID The payout's id.\n\tID PayoutID `json:\"id\"`", "\t// The payout's id.\n\tID PayoutID `json:\"id\"`"},
		"further lines stay":   {"// Page Of entries.\n// Page Two.\ntype Page struct {", "// Page: of entries.\n// Page Two.\ntype Page struct {"},
		"about something else": {"// Defines values for Asset.\nconst (", "// Defines values for Asset.\nconst ("},
		"a sentence already":   {"// ListThingsParams defines parameters for ListThings.\ntype ListThingsParams struct {", "// ListThingsParams defines parameters for ListThings.\ntype ListThingsParams struct {"},
		"function":             {"// Variant is what is held.\nfunc (t X) Variant() Y {", "// Variant is what is held.\nfunc (t X) Variant() Y {"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, reword(test.in)) })
	}
}

func TestRename(t *testing.T) {
	for _, twice := range []string{"", "\t\"example.com/model\"\n"} {
		in := "import (\n" + twice + "\texternalRef0 \"example.com/model\"\n)\n\nvar x externalRef0.Invoice\n"
		assert.Equal(t, "import (\n\t\"example.com/model\"\n)\n\nvar x model.Invoice\n", rename(in))
	}
}
