package descriptions_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/openapi"
)

type coverage struct {
	Kinds   map[string]string
	Methods []struct{ Method, Kind string }
	MoneyIn []struct{ Method, Currency string } `yaml:"moneyIn"`

	MoneyOut []struct {
		Currency      string
		Methods       []string
		International bool
	} `yaml:"moneyOut"`
}

func readCoverage(t *testing.T) coverage {
	t.Helper()
	raw, err := fs.ReadFile(openapi.Files, "coverage.yaml")
	require.NoError(t, err)
	var c coverage
	require.NoError(t, yaml.Unmarshal(raw, &c))
	return c
}

func TestEveryBankMethodIsCovered(t *testing.T) {
	c := readCoverage(t)
	var methods, out []string
	for _, m := range c.Methods {
		methods = append(methods, m.Method)
	}
	for _, row := range c.MoneyOut {
		out = append(out, row.Methods...)
	}
	assert.Equal(t, strings.Fields(bankMethods), methods)
	assert.ElementsMatch(t, methods, out, "each method pays out in exactly one currency")
}

func TestTheKindFollowsTheSuffix(t *testing.T) {
	c := readCoverage(t)
	counts := map[string]int{}
	for _, m := range c.Methods {
		expected := "scheme"
		for _, kind := range []string{"local", "ewallet"} {
			if strings.HasSuffix(m.Method, "_"+kind) {
				expected = kind
			}
		}
		assert.Equal(t, expected, m.Kind, m.Method)
		assert.Contains(t, c.Kinds, m.Kind)
		counts[m.Kind]++
	}
	assert.Equal(t, map[string]int{"scheme": 22, "local": 29, "ewallet": 6}, counts)
}

func TestMoneyIn(t *testing.T) {
	var in []string
	for _, row := range readCoverage(t).MoneyIn {
		in = append(in, row.Method+" "+row.Currency)
	}
	assert.Equal(t, []string{
		"ach USD", "fedwire USD", "swift USD", "sepa EUR", "ukfps GBP", "uaefts AED", "pix BRL", "spei MXN", "npp AUD",
		"nip NGN", "breb COP", "pse COP", "transfers_3_0 ARS",
	}, in)
}

func TestMoneyOut(t *testing.T) {
	byCurrency := map[string][]string{}
	var international []string
	for _, row := range readCoverage(t).MoneyOut {
		byCurrency[row.Currency] = append(byCurrency[row.Currency], row.Methods...)
		if row.International {
			international = append(international, row.Methods...)
		}
	}
	assert.Len(t, byCurrency, 42)
	assert.Equal(t, []string{"swift"}, international)
	assert.Equal(t, []string{"ach", "fedwire", "fednow", "rtp", "swift"}, byCurrency["USD"])
	assert.Equal(t, []string{"breb", "pse", "cop_local"}, byCurrency["COP"])
	assert.Equal(t, []string{"sepa"}, byCurrency["EUR"])
	// The three letters before _local and _ewallet are the currency.
	for currency, methods := range byCurrency {
		for _, method := range methods {
			if prefix, _, suffixed := strings.Cut(method, "_"); suffixed && len(prefix) == 3 {
				assert.Equal(t, strings.ToLower(currency), prefix, method)
			}
		}
	}
}
