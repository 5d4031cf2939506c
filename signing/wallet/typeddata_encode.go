package wallet

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

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
