package dapi

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// WithChainName allows an approval to name the chain with this EVM id by code. You name chains by their ids, and an
// approval may have the id or a code. The SDK knows the codes base, ethereum, arbitrum, optimism and polygon. It does
// not ask the service which code belongs to which chain, because the service also writes the approval.
//
// If the id is not positive, the code is empty, long or a number, or the code belongs to another chain, the constructor
// of the client fails with *errors.InvalidInput.
func WithChainName(id ChainID, code ChainCode) moneymovement.Option {
	return func(c *transport.Config) {
		c.ChainNames = append(slices.Clip(c.ChainNames), transport.ChainName{ID: int64(id), Code: string(code)})
	}
}

// chainNames has the chain of each code that an approval may use.
type chainNames map[ChainCode]ChainID

func newChainNames(added []transport.ChainName) (chainNames, error) {
	names := chainNames(maps.Clone(chainIDs))
	return names, transport.Validate("New", func(c *transport.Check) {
		for _, name := range added {
			id, code := ChainID(name.ID), ChainCode(name.Code)
			switch other, known := names[code]; {
			case id < 1:
				c.Refuse("WithChainName", "out_of_range", "must have the EVM id of the chain, which is positive")
			case !code.plausible():
				c.Refuse("WithChainName", "invalid_format", "must have the code of the chain, such as base")
			case known && other != id:
				c.Refuse("WithChainName", "conflict",
					fmt.Sprintf("must not give %s to chain %d, because it names chain %d", code, id, other))
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
	named.Reason += "; if you know that the service names chain " + strconv.FormatInt(int64(id), 10) +
		" like that, pass the option dapi.WithChainName(" + strconv.FormatInt(int64(id), 10) + ", " +
		strconv.Quote(string(code)) + ")"
	return &named
}
