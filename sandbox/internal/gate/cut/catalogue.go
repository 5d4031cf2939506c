package main

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/openapi"
)

// catalogueFile has what people read about the operations, which the other files leave out.
const catalogueFile = "catalogue.gen.json"

// platformBase is the base path of the platform API, which the paths of its description do not have.
const platformBase = "/dapi/v1"

// catalogue lists every operation with its summary, and the names of the members that hold secrets.
func catalogue() ([]byte, error) {
	var operations []object
	for _, surface := range surfaces {
		document, err := surface.read()
		if err != nil {
			return nil, err
		}
		base := ""
		if surface.name == "dapi" {
			base = platformBase
		}
		for _, path := range slices.Sorted(maps.Keys(document.Paths.Map())) {
			described := document.Paths.Value(path).Operations()
			for _, method := range slices.Sorted(maps.Keys(described)) {
				operations = append(operations, object{
					"surface": surface.name, "method": method, "path": base + path,
					"operation": described[method].OperationID, "summary": described[method].Summary,
				})
			}
		}
	}
	secrets, err := secretNames()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(object{"operations": operations, "secrets": secrets}, json.Deterministic(true),
		jsontext.WithIndent("\t"))
	return append(text, '\n'), err
}

// secretNames lists the members that the descriptions mark as sensitive.
func secretNames() ([]string, error) {
	files, err := openapi.Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := openapi.Files.ReadFile(file.Name())
		if err != nil {
			return nil, err
		}
		var document any
		if err := yaml.Unmarshal(text, &document); err != nil {
			return nil, err
		}
		findSecrets(document, found)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func findSecrets(part any, found map[string]bool) {
	switch part := part.(type) {
	case []any:
		for _, element := range part {
			findSecrets(element, found)
		}
	case object:
		properties, _ := part["properties"].(object)
		for name, schema := range properties {
			property, _ := schema.(object)
			items, _ := property["items"].(object)
			if property["x-sensitive"] == true || items["x-sensitive"] == true {
				found[name] = true
			}
		}
		for _, member := range part {
			findSecrets(member, found)
		}
	}
}
