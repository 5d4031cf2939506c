package rules_test

import (
	"go/types"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

// mixedCase finds initialisms that are not all capitals: Iban, Cvv and Urls, and not Paid or Swiftly.
var mixedCase = regexp.MustCompile(`(Ach|Bic|Cnpj|Cpf|Cvv|Eft|Eur|Evm|Evp|Fps|Fx|Http|Iban|Id|Json|Kyb|Kyc|Mcp|` +
	`Msa|Nda|Nip|Npp|Pdf|Pix|Pse|Rtp|Sepa|Spei|Swift|Uaefts|Ukfps|Upi|Url|Usdc?|Uuid)s?([A-Z0-9]|$)`)

// Names follow Go: an initialism is written in capitals. internal/tools/codegen/oapi lists those of generated names.
func TestInitialismsAreCapitals(t *testing.T) {
	for name, mixed := range map[string]bool{
		"ContractTypeMsa": true, "Cvv": true, "UsdcBalance": true, "PriorityMethodSwiftEur": true, "DocumentIds": true,
		"PriorityMethodSWIFTEUR": false, "DocumentIDs": false, "PaidAt": false, "Invalid": false, "Euros": false,
	} {
		assert.Equal(t, mixed, mixedCase.MatchString(name), name)
	}
	pkgs := newExports().imported(t, shownPackages)
	for _, pkg := range pkgs {
		for _, name := range pkg.Scope().Names() {
			object := pkg.Scope().Lookup(name)
			if !object.Exported() {
				continue
			}
			assert.NotRegexp(t, mixedCase, name, pkg.Name())
			named, isNamed := object.Type().(*types.Named)
			if _, isType := object.(*types.TypeName); !isType || !isNamed {
				continue
			}
			for method := range named.Methods() {
				assert.NotRegexp(t, mixedCase, method.Name(), "%s.%s", pkg.Name(), name)
			}
			if body, isStruct := named.Underlying().(*types.Struct); isStruct {
				for field := range body.Fields() {
					assert.NotRegexp(t, mixedCase, field.Name(), "%s.%s", pkg.Name(), name)
				}
			}
		}
	}
}
