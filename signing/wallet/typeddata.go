package wallet

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

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
