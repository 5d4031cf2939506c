package report

import (
	"encoding/json"
	"time"
)

// observed returns claims about assumptions that one value of a response does not show, but several together do.
func observed(exchanges []*Exchange) (claims []Claim) {
	for _, x := range exchanges {
		if x.Scripted || !x.Accepted() {
			continue
		}
		switch x.Name() {
		case "dapi ListChains":
			claims = append(claims, chainOfBase(x)...)
		case "dapi ListTransactions":
			claims = append(claims, newestFirst(x)...)
		}
	}
	return claims
}

// base is the id of the chain that accounts settle on.
const base = json.Number("8453")

func chainOfBase(x *Exchange) (claims []Claim) {
	for _, chain := range entries(x) {
		code := text(chain, "code")
		if member(chain, "chainId") != base || code == "" {
			continue
		}
		claim := Claim{File: "coverage.yaml", Where: "onChain", Aspect: "chain", Confirmed: code == "base",
			Operation: x.Name(), Seen: "the chain of id 8453 has the code base"}
		if !claim.Confirmed {
			claim.Seen = "the chain of id 8453 has another code"
		}
		claims = append(claims, claim)
	}
	return claims
}

// newestFirst claims something only if the entries have different times: else any order looks alike.
func newestFirst(x *Exchange) []Claim {
	var times []time.Time
	for _, entry := range entries(x) {
		at, err := time.Parse(time.RFC3339, text(entry, "createdAt"))
		if err != nil {
			return nil
		}
		times = append(times, at)
	}
	if len(times) < 2 || times[0].Equal(times[len(times)-1]) {
		return nil
	}
	claim := Claim{File: "dapi.yaml", Where: "ListTransactions", Aspect: "order", Confirmed: true, Operation: x.Name(),
		Seen: "no entry is newer than the one before it"}
	for i, at := range times[1:] {
		if at.After(times[i]) {
			claim.Confirmed, claim.Seen = false, "an entry is newer than the one before it"
		}
	}
	return []Claim{claim}
}

func entries(x *Exchange) []any {
	items, _ := member(x.Answer, "items").([]any)
	return items
}
