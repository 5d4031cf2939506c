package descriptions_test

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/openapi"
)

func TestEveryDescriptionIsValid(t *testing.T) {
	for _, name := range descriptions {
		t.Run(name, func(t *testing.T) {
			document := load(t, name)
			assert.Equal(t, "3.0.3", document.OpenAPI)
			assert.NoError(t, document.Validate(t.Context(),
				openapi3.SetRegexCompiler(compilePattern), openapi3.EnableMultiError(),
				openapi3.ProhibitExtensionsWithRef()))
		})
	}
}

// The tests name the files they cover; a new file must be added to them.
func TestEveryFileIsCovered(t *testing.T) {
	names, err := fs.Glob(openapi.Files, "*.yaml")
	require.NoError(t, err)
	assert.ElementsMatch(t, append([]string{"errors.yaml", "coverage.yaml"}, descriptions...), names)
}

// A surface refers to itself and to what is shared, never to another surface.
func TestReferencesStayInTheFileOrLeadToTheSharedOne(t *testing.T) {
	for _, name := range surfaces {
		walk("", source(t, name), func(pointer string, mapping map[string]any) {
			if ref, isRef := mapping["$ref"].(string); isRef {
				assert.Regexp(t, `^(common\.yaml)?#/components/`, ref, name+pointer)
			}
		})
	}
}

// What two files would say in the same way stands in common.yaml alone, whatever the texts that go with it.
func TestSharedSchemasAreWrittenOnce(t *testing.T) {
	shared := object(source(t, "common.yaml"), "components", "schemas")
	for _, name := range surfaces {
		for schema, node := range object(source(t, name), "components", "schemas") {
			if there, is := shared[schema]; is {
				assert.NotEqual(t, withoutTexts(there), withoutTexts(node), "%s: %s is that of common.yaml", name,
					schema)
			}
		}
	}
}

// withoutTexts leaves out what changes nothing on the wire, and of references which file they lead to.
func withoutTexts(node any) any {
	switch node := node.(type) {
	case map[string]any:
		said := map[string]any{}
		for key, value := range node {
			if key != "description" && key != "x-assumed" && key != "x-assumed-values" {
				said[key] = withoutTexts(value)
			}
		}
		return said
	case []any:
		var said []any
		for _, value := range node {
			said = append(said, withoutTexts(value))
		}
		return said
	case string:
		return strings.TrimPrefix(node, "common.yaml")
	}
	return node
}

// What common.yaml holds is used by at least two surfaces, directly or through each other.
func TestSharedSchemasAreShared(t *testing.T) {
	users := map[string]map[string]bool{}
	for _, name := range surfaces {
		reached := map[string]bool{}
		walk("", source(t, name), func(_ string, mapping map[string]any) {
			reachShared(t, mapping["$ref"], "common.yaml#/components/schemas/", reached)
		})
		for schema := range reached {
			if users[schema] == nil {
				users[schema] = map[string]bool{}
			}
			users[schema][name] = true
		}
	}
	for schema := range object(source(t, "common.yaml"), "components", "schemas") {
		if schema == "ContactAccount" {
			continue // its variants are shared, and a union stands beside its variants
		}
		assert.GreaterOrEqual(t, len(users[schema]), 2, "%s is used by %v", schema, users[schema])
	}
}

func reachShared(t *testing.T, ref any, prefix string, reached map[string]bool) {
	target, _ := ref.(string)
	if len(target) <= len(prefix) || target[:len(prefix)] != prefix || reached[target[len(prefix):]] {
		return
	}
	schema := target[len(prefix):]
	reached[schema] = true
	walk("", object(source(t, "common.yaml"), "components", "schemas", schema), func(_ string, mapping map[string]any) {
		reachShared(t, mapping["$ref"], "#/components/schemas/", reached)
	})
}

const (
	// decimalPattern is the description's pattern of a decimal that travels as a string. Its look-ahead is beyond RE2.
	decimalPattern = `^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$`
	// decimalRE2 accepts exactly the same strings; TestDecimalPatternHasAnEquivalent proves it.
	decimalRE2 = `^[+-]?(?:\d+\.?\d*|\.\d+)$`
)

// surfaces are the files that describe operations.
var surfaces = []string{"dapi.yaml", "appapi.yaml", "refapi.yaml", "public.yaml"}

// descriptions are all OpenAPI files.
var descriptions = append(slices.Clone(surfaces), "common.yaml")

// compilePattern is the pattern compiler that every reader of these files needs.
func compilePattern(expression string) (openapi3.RegexMatcher, error) {
	if expression == decimalPattern {
		expression = decimalRE2
	}
	return regexp.Compile(expression)
}

// load reads a file and what it refers to out of the embedded files, and nothing else.
func load(t *testing.T, name string) *openapi3.T {
	t.Helper()
	loader := openapi3.NewLoader()
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, location *url.URL) ([]byte, error) {
		return fs.ReadFile(openapi.Files, location.Path)
	}
	document, err := loader.LoadFromURI(&url.URL{Path: name})
	require.NoError(t, err)
	return document
}

// source is a file as plain maps and lists, with every mark in place. It is parsed once and only read.
func source(t *testing.T, name string) map[string]any {
	t.Helper()
	if parsed, ok := sources.Load(name); ok {
		return parsed.(map[string]any)
	}
	raw, err := fs.ReadFile(openapi.Files, name)
	require.NoError(t, err)
	var document map[string]any
	require.NoError(t, yaml.Unmarshal(raw, &document))
	sources.Store(name, document)
	return document
}

var sources sync.Map // file name to parsed document

// walk visits every mapping of a tree with its JSON pointer.
func walk(pointer string, node any, visit func(pointer string, mapping map[string]any)) {
	switch node := node.(type) {
	case map[string]any:
		visit(pointer, node)
		for key, value := range node {
			walk(pointer+"/"+strings.ReplaceAll(key, "/", "~1"), value, visit)
		}
	case []any:
		for i, value := range node {
			walk(pointer+"/"+strconv.Itoa(i), value, visit)
		}
	}
}

// object is a mapping inside a mapping; a missing one is empty.
func object(node map[string]any, path ...string) map[string]any {
	for _, key := range path {
		node, _ = node[key].(map[string]any)
	}
	return node
}

// bundled reads the description that clients in other languages are generated from. It needs no other file.
func bundled(t *testing.T, surface string) *openapi3.T {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromFile("../../../openapi/bundled/" + surface)
	require.NoError(t, err)
	return document
}

// The examples are recorded exchanges. They must be as the schemas say.
func TestTheBundlesAndTheirExamplesAreValid(t *testing.T) {
	for _, surface := range surfaces {
		t.Run(surface, func(t *testing.T) {
			assert.NoError(t, bundled(t, surface).Validate(t.Context(), openapi3.EnableExamplesValidation(),
				openapi3.SetRegexCompiler(compilePattern), openapi3.EnableMultiError()))
		})
	}
}

func TestEachBodyOfABundleHasAnExample(t *testing.T) {
	for _, surface := range surfaces {
		for path, item := range bundled(t, surface).Paths.Map() {
			for method, operation := range item.Operations() {
				where := surface + " " + method + " " + path
				if operation.RequestBody != nil {
					assertExample(t, operation.RequestBody.Value.Content, where)
				}
				for status, response := range operation.Responses.Map() {
					if strings.HasPrefix(status, "2") {
						assertExample(t, response.Value.Content, where+" "+status)
					}
				}
			}
		}
	}
	book := bundled(t, "dapi.yaml").Paths.Find("/payouts").Post
	booked := book.Responses.Status(201).Value
	for _, content := range []openapi3.Content{book.RequestBody.Value.Content, booked.Content} {
		for _, variant := range []string{"bank", "wallet", "crossChain"} {
			assert.Contains(t, content.Get("application/json").Examples, variant)
		}
	}
}

func assertExample(t *testing.T, content openapi3.Content, where string) {
	t.Helper()
	if media := content["application/json"]; media != nil {
		assert.True(t, media.Example != nil || len(media.Examples) > 0, "%s has no example", where)
	}
}

// Each slug of an operation is in the response with its status.
func TestEachSlugIsInTheResponseWithItsStatus(t *testing.T) {
	raw, err := openapi.Files.ReadFile("errors.yaml")
	require.NoError(t, err)
	var catalogue struct {
		Slugs []struct {
			Slug   string
			Status int
		}
	}
	require.NoError(t, yaml.Unmarshal(raw, &catalogue))
	statuses := map[string]int{}
	for _, entry := range catalogue.Slugs {
		statuses[entry.Slug] = entry.Status
	}
	for _, surface := range surfaces {
		document := bundled(t, surface)
		everywhere, _ := document.Extensions["x-slugs"].([]any)
		for path, item := range document.Paths.Map() {
			for method, operation := range item.Operations() {
				own, _ := operation.Extensions["x-slugs"].([]any)
				for _, slug := range append(own, everywhere...) {
					status := statuses[slug.(string)]
					response := operation.Responses.Status(status)
					if assert.NotNil(t, response, "%s %s %s: %d", surface, method, path, status) &&
						(surface != "refapi.yaml" || status != 422) {
						assert.Contains(t, *response.Value.Description, "`"+slug.(string)+"`", method+" "+path+" "+
							strconv.Itoa(status))
					}
				}
			}
		}
	}
}

// A reader can try their own code for signatures on the examples: what is signed, the key and the signature.
func TestTheSignaturesOfTheExamplesVerify(t *testing.T) {
	paths := bundled(t, "dapi.yaml").Paths
	reply := func(operation *openapi3.Operation) map[string]any {
		media := operation.Responses.Status(201).Value.Content.Get("application/json")
		if media.Example == nil {
			return media.Examples["bank"].Value.Value.(map[string]any)
		}
		return media.Example.(map[string]any)
	}
	challenge, booked := reply(paths.Find("/auth/challenge").Post), reply(paths.Find("/payouts").Post)
	for path, payload := range map[string]any{
		"/auth/token":                 challenge["payload"],
		"/payouts/{payoutId}/confirm": booked["approval"].(map[string]any)["payload"],
	} {
		request := paths.Find(path).Post.RequestBody.Value.Content.Get("application/json").Example.(map[string]any)
		key, err := x509.ParsePKIXPublicKey(decoded(t, request["publicKey"]))
		require.NoError(t, err)
		digest := sha256.Sum256(decoded(t, payload))
		assert.True(t, ecdsa.VerifyASN1(key.(*ecdsa.PublicKey), digest[:], decoded(t, request["signature"])), path)
	}
}

func decoded(t *testing.T, text any) []byte {
	t.Helper()
	content, err := base64.StdEncoding.DecodeString(text.(string))
	require.NoError(t, err)
	return content
}
