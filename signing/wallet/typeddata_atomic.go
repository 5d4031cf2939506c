package wallet

import (
	"encoding/hex"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// atomicType matches every type that is not a struct or an array.
var atomicType = regexp.MustCompile(`^(?:bool|address|string|bytes|bytes([1-9]|[12][0-9]|3[0-2])|(u?int)([0-9]{1,3}))$`)

func isAtomic(name string) bool {
	match := atomicType.FindStringSubmatch(name)
	if match == nil {
		return false
	}
	if match[2] == "" {
		return true
	}
	bits, _ := strconv.Atoi(match[3])
	return bits >= 8 && bits <= 256 && bits%8 == 0 && match[3][0] != '0'
}

// encodeAtomic returns the 32 bytes of a value, or the hash of a value of dynamic length.
func encodeAtomic(typeName string, value codec.Value, path string) ([]byte, error) {
	switch {
	case typeName == "string":
		text, ok := stringValue(value)
		if !ok {
			return nil, refuse(path, "it must be a string")
		}
		return crypto.Keccak256([]byte(text)), nil
	case typeName == "bool":
		return encodeBool(value, path)
	case typeName == "address":
		return encodeAddress(value, path)
	case typeName == "bytes":
		data, ok := bytesValue(value)
		if !ok {
			return nil, refuse(path, `it must be bytes in hexadecimal with "0x"`)
		}
		return crypto.Keccak256(data), nil
	case strings.HasPrefix(typeName, "bytes"):
		return encodeFixedBytes(typeName, value, path)
	}
	return encodeInteger(typeName, value, path)
}

func encodeBool(value codec.Value, path string) ([]byte, error) {
	word := make([]byte, 32)
	switch value.Kind() {
	case 't':
		word[31] = 1
	case 'f':
	default:
		return nil, refuse(path, "it must be true or false")
	}
	return word, nil
}

func encodeAddress(value codec.Value, path string) ([]byte, error) {
	text, _ := stringValue(value)
	data, ok := bytesValue(value)
	if !ok || len(data) != common.AddressLength {
		return nil, refuse(path, `it must be an address: 20 bytes in hexadecimal with "0x"`)
	}
	digits := text[2:]
	mixed := digits != strings.ToLower(digits) && digits != strings.ToUpper(digits)
	if mixed && text != common.BytesToAddress(data).Hex() {
		return nil, refuse(path, "the address does not match its EIP-55 checksum")
	}
	return common.LeftPadBytes(data, 32), nil
}

func encodeFixedBytes(typeName string, value codec.Value, path string) ([]byte, error) {
	data, ok := bytesValue(value)
	if !ok || "bytes"+strconv.Itoa(len(data)) != typeName {
		return nil, refuse(path, `it must be %s in hexadecimal with "0x"`, typeName)
	}
	return common.RightPadBytes(data, 32), nil
}

func encodeInteger(typeName string, value codec.Value, path string) ([]byte, error) {
	n, ok := integerValue(value)
	if !ok {
		return nil, refuse(path,
			`it must be an integer: a JSON number without fraction or exponent, or a decimal or "0x" string`)
	}
	signed := strings.HasPrefix(typeName, "int")
	bits, _ := strconv.Atoi(strings.TrimLeft(typeName, "uint"))
	low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(bits))
	if signed {
		high.Rsh(high, 1)
		low.Neg(high)
	}
	if n.Cmp(low) < 0 || n.Cmp(high) >= 0 {
		return nil, refuse(path, "it is out of the range of %s", typeName)
	}
	if n.Sign() < 0 { // two's complement
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return n.FillBytes(make([]byte, 32)), nil
}

func stringValue(value codec.Value) (string, bool) {
	var text string
	ok := value.Kind() == '"' && codec.Unmarshal(value, &text) == nil
	return text, ok
}

func bytesValue(value codec.Value) ([]byte, bool) {
	text, ok := stringValue(value)
	digits, prefixed := strings.CutPrefix(text, "0x")
	data, err := hex.DecodeString(digits)
	return data, ok && prefixed && err == nil
}

// Integers have at most 256 bits, which are at most 78 decimal digits.
var (
	decimalInteger = regexp.MustCompile(`^-?[0-9]{1,78}$`)
	hexInteger     = regexp.MustCompile(`^0x[0-9a-fA-F]{1,64}$`)
)

func integerValue(value codec.Value) (*big.Int, bool) {
	text := string(value)
	if value.Kind() != '0' {
		var ok bool
		if text, ok = stringValue(value); !ok {
			return nil, false
		}
		if hexInteger.MatchString(text) {
			return new(big.Int).SetString(text[2:], 16)
		}
	}
	if !decimalInteger.MatchString(text) {
		return nil, false
	}
	return new(big.Int).SetString(text, 10)
}
