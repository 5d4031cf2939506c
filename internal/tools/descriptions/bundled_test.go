package descriptions_test

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/openapi"
)

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
