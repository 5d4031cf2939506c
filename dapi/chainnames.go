package dapi

import (
	"fmt"
	"maps"
	"slices"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// chainNames has the chain of each code that an approval may use.
type chainNames map[ChainCode]ChainID

// newChainNames returns the codes that the SDK knows, and those of [Developer.ChainNames].
func newChainNames(added map[ChainCode]ChainID) (chainNames, error) {
	names := chainNames(maps.Clone(chainIDs))
	return names, transport.Validate("New", func(c *transport.Check) {
		for code, id := range added {
			switch known := names[code]; {
			case id < 1:
				c.Refuse("chainNames", "out_of_range", "must have the EVM id of the chain, which is positive")
			case !code.plausible():
				c.Refuse("chainNames", "invalid_format", "must have the code of the chain, such as base")
			case known != 0 && known != id:
				c.Refuse("chainNames", "conflict",
					fmt.Sprintf("must not give %s to chain %d, because it names chain %d", code, id, known))
			default:
				names[code] = id
			}
		}
	})
}

// plausible reports a short word. A number is not plausible: it would be the id of another chain.
func (c ChainCode) plausible() bool {
	const longest = 32
	letters := 0
	for i, r := range []byte(c) {
		switch {
		case 'a' <= r|' ' && r|' ' <= 'z':
			letters++
		case '0' <= r && r <= '9':
		case i == 0, r != '.' && r != '_' && r != ':' && r != '-':
			return false
		}
	}
	return letters > 0 && len(c) <= longest
}

// codeOf returns the first code of a chain, or "".
func (n chainNames) codeOf(id ChainID) ChainCode {
	for _, code := range slices.Sorted(maps.Keys(n)) {
		if n[code] == id {
			return code
		}
	}
	return ""
}

// explained adds to the refusal of an approval that names a chain by a code that the SDK does not know how to allow it.
func (n chainNames) explained(err error, id ChainID) error {
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	if !ok || refused.Field != "destination.chainId" {
		return err
	}
	code := ChainCode(refused.Got)
	if _, known := n[code]; known || id == 0 || refused.Err != nil || !code.plausible() {
		return err
	}
	named := *refused // it can belong to a verifier, which may share it
	named.Reason += fmt.Sprintf("; if you know that the service names chain %d like that, "+
		"add %q: %d to the ChainNames of the dapi.Developer", id, code, id)
	return &named
}
