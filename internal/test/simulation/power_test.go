package simulation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/tier"
	"github.com/moneymovement/moneymovement-go/payments"
)

// variant is a program with a broken rule.
type variant struct {
	name  string
	on    string // the program: "dapi alone" or "payments"
	broke Break
	deck  []payments.Kind // in place of the usual one; nil for that
}

// Each broken rule is noticed. The output says after how many payments, and by what. A short run makes few payments for
// each of them, and most of the rules are noticed even so.
func TestEveryBrokenRuleIsNoticed(t *testing.T) {
	seeds := tier.Size(2, 400)
	variants := slices.Concat(journalVariants(), storeVariants(), connectionVariants(), kindVariants())
	names, table, unnoticed := map[string]bool{}, new(strings.Builder), []string{}
	for _, v := range variants {
		name := v.on + ": " + v.name
		require.False(t, names[name], "two variants have the name %q", name)
		names[name] = true
		made, noticed := notice(t, v, seeds)
		if noticed == "" {
			unnoticed = append(unnoticed, name)
		}
		fmt.Fprintf(table, "%-10s  %-46s %6d  %s\n", v.on, v.name, made, noticed)
	}
	t.Logf("%d broken rules\n%-10s  %-46s %6s  %s\n%s", len(variants), "program", "the broken rule", "after",
		"noticed by", table)
	if tier.Soak() {
		assert.Empty(t, unnoticed, "not noticed")
	}
	assert.Greater(t, len(variants)-len(unnoticed), 30, "too few are noticed")
}

// notice makes runs until one breaks a rule. It returns how many payments that took, and the first broken rule.
func notice(t *testing.T, v variant, seeds int) (made int, noticed string) {
	t.Helper()
	for i := range seeds {
		plan := stormy(v.on)
		plan.Break = v.broke
		if v.deck != nil {
			plan.Deck = v.deck
		}
		made += plan.Payments
		result, err := attempt(t, Seed(i+1), plan)
		switch {
		case err != nil:
			return made, err.Error()
		case len(result.Violations) > 0:
			return made, cut(result.Violations[0])
		}
	}
	return made, ""
}

// attempt is run for a plan that may fail.
func attempt(t *testing.T, seed Seed, plan Plan) (result *Result, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		plan.Reseed = func() { cryptotest.SetGlobalRandom(t, uint64(seed)) }
		result, err = Run(seed, plan)
	})
	return result, err
}

// cut shortens a text for a table.
func cut(text string) string {
	if len(text) > 90 {
		return text[:90] + "..."
	}
	return text
}
