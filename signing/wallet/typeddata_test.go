package wallet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// mail is the example of EIP-712.
const mail = `{
	"types": {
		"EIP712Domain": [
			{"name": "name", "type": "string"}, {"name": "version", "type": "string"},
			{"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}
		],
		"Person": [{"name": "name", "type": "string"}, {"name": "wallet", "type": "address"}],
		"Mail": [
			{"name": "from", "type": "Person"}, {"name": "to", "type": "Person"}, {"name": "contents", "type": "string"}
		]
	},
	"primaryType": "Mail",
	"domain": {
		"name": "Ether Mail", "version": "1", "chainId": 1, "verifyingContract": "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"
	},
	"message": {
		"from": {"name": "Cow", "wallet": "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"},
		"to": {"name": "Bob", "wallet": "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"},
		"contents": "Hello, Bob!"
	}
}`

// mailToMany is the example of eth_signTypedData_v4, with arrays.
const mailToMany = `{
	"types": {
		"EIP712Domain": [
			{"name": "name", "type": "string"}, {"name": "version", "type": "string"},
			{"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}
		],
		"Person": [{"name": "name", "type": "string"}, {"name": "wallets", "type": "address[]"}],
		"Mail": [
			{"name": "from", "type": "Person"}, {"name": "to", "type": "Person[]"},
			{"name": "contents", "type": "string"}
		],
		"Group": [{"name": "name", "type": "string"}, {"name": "members", "type": "Person[]"}]
	},
	"primaryType": "Mail",
	"domain": {
		"name": "Ether Mail", "version": "1", "chainId": "0x1", "verifyingContract": "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"
	},
	"message": {
		"from": {"name": "Cow", "wallets": [
			"0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826", "0xDeaDbeefdEAdbeefdEadbEEFdeadbeEFdEaDbeeF"]},
		"to": [{"name": "Bob", "wallets": [
			"0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB", "0xB0BdaBea57B0BDABeA57b0bdABEA57b0BDabEa57",
			"0xB0B0b0b0b0b0B000000000000000000000000000"]}],
		"contents": "Hello, Bob!"
	}
}`

func TestSignTypedDataKnownAnswers(t *testing.T) {
	for name, tc := range map[string]struct{ document, signature string }{
		"EIP-712": {mail, "0x4355c47d63924e8a72e509b65029052eb6c299d53a04e167c5775fd466751c9d" +
			"07299936d304c153f6443dfa05f40ff007d72911b6f72307f996231605b91562" + "1c"},
		"arrays": {mailToMany, "0x65cbd956f2fae28a601bebc9b906cea0191744bd4c4247bcd27cd08f8eb6b71c" +
			"78efdf7a31dc9abee78f492292721f362d296cf86b4538e07b51303b67f74906" + "1b"},
	} {
		t.Run(name, func(t *testing.T) {
			key := cow(t)
			signature, err := key.SignTypedData(t.Context(), []byte(tc.document))
			require.NoError(t, err)
			assert.Equal(t, tc.signature, signature)
			address, err := wallet.RecoverTypedData([]byte(tc.document), signature)
			require.NoError(t, err)
			assert.Equal(t, key.Address(), address)
		})
	}
}

// single is a document whose message has one member.
func single(typeName, value string) []byte {
	return fmt.Appendf(nil, `{
		"types": {
			"EIP712Domain": [{"name": "name", "type": "string"}],
			"Pair": [{"name": "a", "type": "uint8"}, {"name": "b", "type": "bool"}],
			"Node": [{"name": "value", "type": "uint8"}, {"name": "next", "type": "Node[]"}],
			"Message": [{"name": "value", "type": %q}]
		},
		"primaryType": "Message", "domain": {"name": "d"}, "message": {"value": %s}
	}`, typeName, value)
}

// recoveredByPeer is the address that go-ethereum's own encoder makes of a signature.
func recoveredByPeer(t require.TestingT, document []byte, signature string) string {
	var data apitypes.TypedData
	require.NoError(t, json.Unmarshal(document, &data))
	hash, _, err := apitypes.TypedDataAndHash(data)
	require.NoError(t, err)
	sig := common.FromHex(signature)
	sig[64] -= 27
	public, err := crypto.SigToPub(hash, sig)
	require.NoError(t, err)
	return crypto.PubkeyToAddress(*public).Hex()
}

func TestTypedDataAgreesWithGoEthereum(t *testing.T) {
	key := newKey(t)
	for _, tc := range [][2]string{
		{"string", `"Grüße \u0000 😀"`}, {"string", `""`},
		{"bool", "true"}, {"bool", "false"},
		{"bytes", `"0x"`}, {"bytes", `"0x0102ff"`},
		{"bytes1", `"0xff"`}, {"bytes32", `"0x` + strings.Repeat("0a", 32) + `"`},
		{"address", `"0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826"`},
		{"uint8", "255"}, {"uint64", `"18446744073709551615"`}, {"uint256", `"0x` + strings.Repeat("f", 64) + `"`},
		{"int8", "-128"}, {"int8", "127"},
		{"int256", `"-57896044618658097711785492504343953926634992332820282019728792003956564819968"`},
		{"uint8[]", "[]"}, {"uint8[]", "[1,2,3]"}, {"uint8[2]", "[1,2]"}, {"uint8[2][]", "[[1,2],[3,4]]"},
		{"string[]", `["a",""]`}, {"Pair", `{"b":true,"a":7}`}, {"Pair[]", `[{"a":1,"b":true},{"a":2,"b":false}]`},
		{"Node", `{"value":1,"next":[{"value":2,"next":[]},{"value":3,"next":[]}]}`},
	} {
		t.Run(tc[0]+" "+tc[1], func(t *testing.T) {
			document := single(tc[0], tc[1])
			signature, err := key.SignTypedData(t.Context(), document)
			require.NoError(t, err)
			assert.Equal(t, key.Address(), recoveredByPeer(t, document, signature))
		})
	}
}

func TestRandomTypedDataAgreesWithGoEthereum(t *testing.T) {
	key := newKey(t)
	rapid.Check(t, func(t *rapid.T) {
		// Struct types A to C refer only to later ones, so that every document ends.
		types := map[string][]map[string]string{"EIP712Domain": {{"name": "name", "type": "string"}}}
		names := []string{"A", "B", "C"}
		for i, name := range names {
			for m := range rapid.IntRange(1, 4).Draw(t, "members") {
				typeName := rapid.SampledFrom(append([]string{
					"string", "bool", "bytes", "address", "uint8", "int64", "uint256", "int256", "bytes4", "bytes32",
				}, names[i+1:]...)).Draw(t, "type")
				typeName += rapid.SampledFrom([]string{"", "", "", "[]", "[2]", "[][2]"}).Draw(t, "dimensions")
				types[name] = append(types[name], map[string]string{"name": fmt.Sprintf("m%d", m), "type": typeName})
			}
		}
		document, err := json.Marshal(map[string]any{
			"types": types, "primaryType": "A", "domain": map[string]any{"name": "d"},
			"message": drawValue(t, types, "A"),
		})
		require.NoError(t, err)
		signature, err := key.SignTypedData(context.Background(), document)
		require.NoError(t, err, "%s", document)
		require.Equal(t, key.Address(), recoveredByPeer(t, document, signature), "%s", document)
		address, err := wallet.RecoverTypedData(document, signature)
		require.NoError(t, err)
		require.Equal(t, key.Address(), address)
	})
}

func drawValue(t *rapid.T, types map[string][]map[string]string, typeName string) any {
	if element, ok := strings.CutSuffix(typeName, "[2]"); ok {
		return []any{drawValue(t, types, element), drawValue(t, types, element)}
	}
	if element, ok := strings.CutSuffix(typeName, "[]"); ok {
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, drawValue(t, types, element))
		}
		return list
	}
	if members, ok := types[typeName]; ok {
		object := map[string]any{}
		for _, m := range members {
			object[m["name"]] = drawValue(t, types, m["type"])
		}
		return object
	}
	hexOf := func(n int) string { return fmt.Sprintf("0x%x", rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes")) }
	switch typeName {
	case "string":
		return rapid.String().Draw(t, "string")
	case "bool":
		return rapid.Bool().Draw(t, "bool")
	case "bytes":
		return hexOf(rapid.IntRange(0, 40).Draw(t, "length"))
	case "address":
		return hexOf(20)
	case "bytes4":
		return hexOf(4)
	case "bytes32", "uint256":
		return hexOf(32)
	case "uint8":
		return rapid.Uint8().Draw(t, "uint8")
	default: // int64, int256
		return fmt.Sprint(rapid.Int64().Draw(t, "int64"))
	}
}

// go-ethereum reads JSON numbers as float64, and so would sign another amount than the document says.
func TestLargeJSONNumbersAreExact(t *testing.T) {
	key := newKey(t)
	signature, err := key.SignTypedData(t.Context(), single("uint256", "9007199254740993"))
	require.NoError(t, err)
	for value, same := range map[string]bool{`"9007199254740993"`: true, `"9007199254740992"`: false} {
		address, err := wallet.RecoverTypedData(single("uint256", value), signature)
		require.NoError(t, err)
		assert.Equal(t, same, address == key.Address(), value)
	}
}

// deep is a Node of n levels, each a struct in an array.
func deep(n int) string {
	return strings.Repeat(`{"value":1,"next":[`, n) + strings.Repeat("]}", n)
}

// A document may nest as deep as stated, its domain as its message, and may be as large.
func TestTypedDataBounds(t *testing.T) {
	inDomain := func(value string) []byte {
		document := strings.Replace(string(single("bool", "true")), `"type": "string"`, `"type": "Node"`, 1)
		return []byte(strings.Replace(document, `{"name": "d"}`, `{"name": `+value+`}`, 1))
	}
	for name, document := range map[string][]byte{
		"message": single("Node", deep(32)), "domain": inDomain(deep(32)),
		"size": []byte(mail + strings.Repeat(" ", 256<<10-len(mail))),
	} {
		_, err := newKey(t).SignTypedData(t.Context(), document)
		require.NoError(t, err, name)
	}
	lists := func(n int) []byte {
		return single("uint8"+strings.Repeat("[]", n), strings.Repeat("[", n)+strings.Repeat("]", n))
	}
	structs := func(n int) []byte { // n types, each within the one before it
		var types, value strings.Builder
		for i := range n - 1 {
			fmt.Fprintf(&types, `"S%d": [{"name": "s", "type": "S%d"}], `, i, i+1)
			value.WriteString(`{"s": `)
		}
		fmt.Fprintf(&types, `"S%d": [], `, n-1)
		document := string(single("S0", value.String()+"{}"+strings.Repeat("}", n-1)))
		return []byte(strings.Replace(document, `"types": {`, `"types": {`+types.String(), 1))
	}
	for name, document := range map[string][]byte{"lists in lists": lists(64), "structs in structs": structs(64)} {
		_, err := newKey(t).SignTypedData(t.Context(), document)
		require.NoError(t, err, name)
	}
	for name, document := range map[string][]byte{
		"message": single("Node", deep(33)), "domain": inDomain(deep(33)), "lists": lists(65), "structs": structs(65),
	} {
		_, err := newKey(t).SignTypedData(t.Context(), document)
		require.ErrorContains(t, err, "nested too deeply", name)
	}
}

func TestTypedDataRefuses(t *testing.T) {
	key := newKey(t)
	replace := func(old, with string) []byte {
		require.Equal(t, 1, strings.Count(mail, old), old)
		return []byte(strings.Replace(mail, old, with, 1))
	}
	cases := map[string]struct {
		document []byte
		path     string
	}{
		"nothing":            {nil, "document"},
		"null":               {[]byte("null"), "types.EIP712Domain"},
		"a list":             {[]byte("[]"), "document"},
		"two documents":      {[]byte(mail + mail), "document"},
		"too much":           {[]byte(mail + strings.Repeat(" ", 256<<10+1-len(mail))), "document"},
		"invalid UTF-8":      {replace("Hello", "\xff"), "document"},
		"an unknown part":    {replace(`"primaryType"`, `"extra": 1, "primaryType"`), "document"},
		"a duplicate":        {replace(`"contents": "Hello`, `"contents": "", "contents": "Hello`), "document"},
		"no domain type":     {replace(`"EIP712Domain"`, `"Domain"`), "types.EIP712Domain"},
		"no domain":          {replace(`"domain"`, `"Domain"`), "document"},
		"an unknown primary": {replace(`"primaryType": "Mail"`, `"primaryType": "Letter"`), "primaryType"},
		"the domain itself":  {replace(`"primaryType": "Mail"`, `"primaryType": "EIP712Domain"`), "primaryType"},
		"an unknown type": {replace(`"name": "to", "type": "Person"`, `"name": "to", "type": "Human"`),
			"types.Mail.to"},
		"a member twice":      {replace(`"name": "to", "type"`, `"name": "from", "type"`), "types.Mail"},
		"a member's name":     {replace(`"name": "to", "type"`, `"name": "t,o", "type"`), "types.Mail"},
		"a type's name":       {replace(`"Person": [`, `"Per(son": [], "Person": [`), "types.Per(son"},
		"a reserved name":     {replace(`"Person": [`, `"uint256": [], "Person": [`), "types.uint256"},
		"a type without name": {replace(`"Person": [`, `"": [], "Person": [`), "types."},
		"a missing member":    {replace(`, "version": "1"`, ""), "domain.version"},
		"a member too many":   {replace(`"contents": "Hello`, `"memo": "", "contents": "Hello`), "message"},
		"a deep member":       {replace(`"Bob", `, `"Bob", "bank": "x", `), "message.to"},
		"a wrong checksum":    {replace("0xCD2a", "0xCd2a"), "message.from.wallet"},
		"one capital": {replace("0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826",
			"0xCd2a3d9f938e13cd947ec05abc7fe734df8dd826"), "message.from.wallet"},
		"within a list": {single("uint8[][]", "[[1],[2,256]]"), "message.value[1][1]"},
	}
	for name, value := range map[string][2]string{
		"null string": {"string", "null"}, "number as string": {"string", "1"},
		"text as bool": {"bool", `"true"`}, "number as bool": {"bool", "1"},
		"short address":          {"address", `"0x00"`},
		"address without prefix": {"address", `"cd2a3d9f938e13cd947ec05abc7fe734df8dd826"`},
		"bytes without prefix":   {"bytes", `"00"`}, "odd bytes": {"bytes", `"0x0"`}, "number as bytes": {"bytes", "1"},
		"long bytes4": {"bytes4", `"0x0000000000"`}, "short bytes4": {"bytes4", `"0x000000"`},
		"uint8 overflow": {"uint8", "256"}, "negative uint8": {"uint8", "-1"}, "int8 overflow": {"int8", "128"},
		"int8 underflow": {"int8", "-129"}, "uint256 overflow": {"uint256", `"1` + strings.Repeat("0", 78) + `"`},
		"fraction": {"uint8", "1.0"}, "exponent": {"uint8", "1e1"}, "enormous exponent": {"uint256", "1e999999999"},
		"empty integer": {"uint8", `""`}, "bare 0x": {"uint8", `"0x"`}, "underscore": {"uint256", `"1_000"`},
		"plus":         {"uint8", `"+1"`},
		"null integer": {"uint8", "null"}, "object as integer": {"uint8", "{}"},
		"object as array": {"uint8[]", "{}"}, "short array": {"uint8[2]", "[1]"}, "long array": {"uint8[2]", "[1,2,3]"},
		"array as struct": {"Pair", "[]"}, "null struct": {"Pair", "null"}, "deep struct": {"Node", deep(100)},
	} {
		cases[name] = struct {
			document []byte
			path     string
		}{single(value[0], value[1]), "message.value"}
	}
	for _, typeName := range []string{
		"uint", "uint0", "uint7", "uint264", "uint08", "bytes0", "bytes33", "fixed", "uint8[0]", "uint8[-1]", "uint8[",
		"uint8]", "[]", "", "uint8[]x",
	} {
		cases["type "+typeName] = struct {
			document []byte
			path     string
		}{single(typeName, "1"), "types.Message.value"}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			signature, err := key.SignTypedData(t.Context(), tc.document)
			refused, ok := errors.AsType[*wallet.TypedDataRefused](err)
			require.True(t, ok, "%v", err)
			if name == "deep struct" {
				assert.Contains(t, refused.Path, tc.path)
			} else {
				assert.Equal(t, tc.path, refused.Path, "%v", err)
			}
			assert.NotEmpty(t, refused.Error())
			if name == "a missing member" {
				assert.Contains(t, refused.Reason, "missing")
			}
			assert.Empty(t, signature)
			address, err := wallet.RecoverTypedData(tc.document, "0x")
			_, ok = errors.AsType[*wallet.TypedDataRefused](err)
			assert.True(t, ok, "%v", err)
			assert.Empty(t, address)
		})
	}
}

func FuzzSignTypedData(f *testing.F) {
	key := cow(f)
	f.Add([]byte(mail))
	f.Add([]byte(mailToMany))
	f.Add(single("Node", `{"value":1,"next":[{"value":2,"next":[]}]}`))
	f.Add(single("uint8[2][]", "[[1,2]]"))
	f.Add([]byte(`{"types":{"EIP712Domain":[{"name":"name","type":"` + strings.Repeat("y", 5000) + `"}]}}`))
	f.Add([]byte(`{"types":{"a\nb` + strings.Repeat("y", 5000) + `":[]}}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		signature, err := key.SignTypedData(t.Context(), document)
		if err != nil {
			if refused, ok := errors.AsType[*wallet.TypedDataRefused](err); !ok || refused.Path == "" ||
				signature != "" {
				t.Fatalf("%q beside %v", signature, err)
			}
			if text := err.Error(); len(text) > 4096 || strings.ContainsFunc(text, unicode.IsControl) {
				t.Fatalf("%q is no bounded line", text)
			}
			return
		}
		if address, err := wallet.RecoverTypedData(document, signature); err != nil || address != key.Address() {
			t.Fatalf("signed by %s: %v", address, err)
		}
	})
}
