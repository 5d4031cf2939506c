package wallet

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

const (
	domainType   = "EIP712Domain"
	maxTypedData = 256 << 10 // bytes
)

// typedData is an EIP-712 document.
type typedData struct {
	Types       map[string][]member `json:"types"`
	PrimaryType string              `json:"primaryType"`
	Domain      codec.Value         `json:"domain"`
	Message     codec.Value         `json:"message"`
}

// member is one member of a struct type.
type member struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// typedDataHash returns keccak256("\x19\x01" ‖ domainSeparator ‖ hashStruct(message)).
func typedDataHash(document []byte) ([]byte, error) {
	data, err := parseTypedData(document)
	if err != nil {
		return nil, err
	}
	e := encoder{types: data.Types, typeHashes: map[string][]byte{}}
	domain, err := e.hashStruct(domainType, data.Domain, "domain", 0)
	if err != nil {
		return nil, err
	}
	message, err := e.hashStruct(data.PrimaryType, data.Message, "message", 0)
	if err != nil {
		return nil, err
	}
	return crypto.Keccak256([]byte("\x19\x01"), domain, message), nil
}

func parseTypedData(document []byte) (typedData, error) {
	var data typedData
	if len(document) > maxTypedData {
		return data, refuse("document", "it has %d bytes, which is too long", len(document))
	}
	if err := codec.Unmarshal(document, &data, codec.NoUnknownMembers()); err != nil {
		return data,
			refuse("document", "it is not a JSON object with types, primaryType, domain and message, and nothing else")
	}
	for _, name := range slices.Sorted(maps.Keys(data.Types)) {
		if err := data.checkType(name); err != nil {
			return data, err
		}
	}
	if len(data.Types[domainType]) == 0 {
		return data, refuse("types."+domainType, "without a domain the signature would be valid everywhere")
	}
	if _, ok := data.Types[data.PrimaryType]; !ok || data.PrimaryType == domainType {
		return data, refuse("primaryType", "it is not one of the types")
	}
	return data, nil
}

// identifier matches a name that needs no escape in an encoded type. With other names, two types could encode alike.
var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

func (d typedData) checkType(name string) error {
	path := "types." + name
	if !identifier.MatchString(name) || isAtomic(name) {
		return refuse(path, "a struct type cannot have this name")
	}
	seen := map[string]bool{}
	for _, m := range d.Types[name] {
		if !identifier.MatchString(m.Name) || seen[m.Name] {
			return refuse(path, "%q is not a valid member name, or it is there twice", m.Name)
		}
		seen[m.Name] = true
		base, ok := baseType(m.Type)
		if _, defined := d.Types[base]; !ok || !defined && !isAtomic(base) {
			return refuse(path+"."+m.Name, "%q is not a type", m.Type)
		}
	}
	return nil
}

// arraySuffix matches what can follow a base type: "[]" or "[n]", repeated.
var arraySuffix = regexp.MustCompile(`^(\[([1-9][0-9]{0,4})?\])*$`)

// baseType returns a type without its array dimensions.
func baseType(name string) (base string, ok bool) {
	base, _, _ = strings.Cut(name, "[")
	return base, arraySuffix.MatchString(name[len(base):])
}

// refuse returns a [*TypedDataRefused].
func refuse(path, format string, args ...any) error {
	return &TypedDataRefused{Path: path, Reason: fmt.Sprintf(format, args...)}
}

// maxDepth is how deep structs and arrays of a document can nest.
const maxDepth = 64

// encoder hashes the values of a checked document.
type encoder struct {
	types      map[string][]member
	typeHashes map[string][]byte
}

// hashStruct returns keccak256(typeHash ‖ encodeData(value)). The value must have exactly the members of the type.
func (e *encoder) hashStruct(name string, value codec.Value, path string, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, refuse(path, "the document is nested too deeply")
	}
	var values map[string]codec.Value
	if value.Kind() != '{' || codec.Unmarshal(value, &values) != nil {
		return nil, refuse(path, "it must be a JSON object, as %s is a struct", name)
	}
	encoded := [][]byte{e.typeHash(name)}
	for _, m := range e.types[name] {
		memberValue, ok := values[m.Name]
		if !ok {
			return nil, refuse(path+"."+m.Name, "the member is missing")
		}
		delete(values, m.Name)
		word, err := e.encode(m.Type, memberValue, path+"."+m.Name, depth+1)
		if err != nil {
			return nil, err
		}
		encoded = append(encoded, word)
	}
	for _, extra := range slices.Sorted(maps.Keys(values)) {
		return nil, refuse(path, "%q is not a member of %s, so the signature would not cover it", extra, name)
	}
	return crypto.Keccak256(encoded...), nil
}

// encode returns the 32 bytes of a value in its struct.
func (e *encoder) encode(typeName string, value codec.Value, path string, depth int) ([]byte, error) {
	if strings.HasSuffix(typeName, "]") {
		return e.hashArray(typeName, value, path, depth)
	}
	if _, ok := e.types[typeName]; ok {
		return e.hashStruct(typeName, value, path, depth)
	}
	return encodeAtomic(typeName, value, path)
}

// hashArray returns keccak256 of the encoded elements. The last dimension of a type is the outermost one.
func (e *encoder) hashArray(typeName string, value codec.Value, path string, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, refuse(path, "the document is nested too deeply")
	}
	var elements []codec.Value
	if value.Kind() != '[' || codec.Unmarshal(value, &elements) != nil {
		return nil, refuse(path, "it must be a JSON array")
	}
	open := strings.LastIndexByte(typeName, '[')
	if length := typeName[open+1 : len(typeName)-1]; length != "" && length != strconv.Itoa(len(elements)) {
		return nil, refuse(path, "%s does not have %d elements", typeName, len(elements))
	}
	encoded := make([][]byte, 0, len(elements))
	for i, element := range elements {
		word, err := e.encode(typeName[:open], element, path+"["+strconv.Itoa(i)+"]", depth+1)
		if err != nil {
			return nil, err
		}
		encoded = append(encoded, word)
	}
	return crypto.Keccak256(encoded...), nil
}

// typeHash returns keccak256(encodeType(name)).
func (e *encoder) typeHash(name string) []byte {
	hash, ok := e.typeHashes[name]
	if !ok {
		hash = crypto.Keccak256([]byte(e.encodeType(name)))
		e.typeHashes[name] = hash
	}
	return hash
}

// encodeType returns the encoding of a struct type, followed by the types that it refers to in order of their names.
func (e *encoder) encodeType(name string) string {
	referred := map[string]bool{}
	e.collect(name, referred)
	delete(referred, name)
	var b strings.Builder
	for _, typeName := range append([]string{name}, slices.Sorted(maps.Keys(referred))...) {
		b.WriteString(typeName + "(")
		for i, m := range e.types[typeName] {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(m.Type + " " + m.Name)
		}
		b.WriteByte(')')
	}
	return b.String()
}

func (e *encoder) collect(name string, into map[string]bool) {
	members, ok := e.types[name]
	if !ok || into[name] {
		return
	}
	into[name] = true
	for _, m := range members {
		base, _ := baseType(m.Type)
		e.collect(base, into)
	}
}

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
