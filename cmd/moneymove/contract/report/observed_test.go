package report_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
)

// Some assumptions are about several values together.
func TestWhatSeveralValuesShow(t *testing.T) {
	chains := func(code string) made {
		return made{request: "GET /dapi/v1/chains", status: 200,
			answer: `{"items":[{"chainId":1,"code":"ethereum"},{"chainId":8453,"code":"` + code + `"}]}`}
	}
	entries := func(first, second string) made {
		return made{request: "GET /dapi/v1/transactions", status: 200,
			answer: `{"items":[{"createdAt":"` + first + `"},{"createdAt":"` + second + `"}]}`}
	}
	const early, late = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01+00:00"
	const base, order = "coverage.yaml onChain chain", "dapi.yaml ListTransactions order"
	for name, c := range map[string]struct {
		made    made
		about   string
		verdict report.Verdict
	}{
		"Base has its code":         {chains("base"), base, report.Confirmed},
		"Base has another code":     {chains("base-mainnet"), base, report.Contradicted},
		"Base has no code":          {chains(""), base, report.Open},
		"the newest entry is first": {entries(late, early), order, report.Confirmed},
		"the oldest entry is first": {entries(early, late), order, report.Contradicted},
		"entries of one moment":     {entries(early, early), order, report.Open},
		"entries without a time":    {entries("today", late), order, report.Open},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.verdict, about(t, judge(t, c.made), c.about).Verdict)
		})
	}
}
