package canary

import (
	"reflect"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// canary is the secret that is planted. No field shows it by chance.
const canary = "4929-the-canary-of-9175-sings"

// planted makes a value of each type that is a secret.
var planted = map[reflect.Type]any{
	reflect.TypeFor[moneymovement.Secret](): moneymovement.NewSecret(canary),
	reflect.TypeFor[appapi.APIKey]():        appapi.NewAPIKey(canary),
	reflect.TypeFor[refapi.APIKey]():        refapi.NewAPIKey(canary),
	reflect.TypeFor[refapi.AccessToken]():   refapi.NewAccessToken(canary),
	reflect.TypeFor[sandbox.Secret]():       sandbox.New(sandbox.WithAPIKey(canary)).Credentials().APIKey,
}

// plant fills a value as far as code outside its package can, and reports how many secrets it put in. Types that hold
// themselves end at depth.
func plant(v reflect.Value, depth int) (secrets int) {
	if secret, ok := planted[v.Type()]; ok {
		v.Set(reflect.ValueOf(secret))
		return 1
	}
	if depth == 0 {
		return 0
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return plant(v.Elem(), depth-1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				secrets += plant(v.Field(i), depth-1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return plant(v.Index(0), depth-1)
	case reflect.Array:
		for i := range v.Len() {
			secrets += plant(v.Index(i), depth-1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		secrets = plant(key, depth-1) + plant(value, depth-1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("text")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	}
	return secrets
}

func TestNoTypeShowsItsSecrets(t *testing.T) {
	holders := map[string]bool{}
	for _, typ := range exportedTypes {
		pointer := reflect.New(typ)
		if plant(pointer.Elem(), 6) == 0 {
			continue // it has nowhere to keep one
		}
		holders[typ.String()] = true
		assertHidden(t, pointer.Interface(), canary)
		assertHidden(t, pointer.Elem().Interface(), canary)
	}
	for _, name := range []string{
		"moneymovement.Secret", "model.CardDetails", "model.CardDetailsProof", "dapi.Session", "refapi.WalletLogin",
		"appapi.APIKey", "refapi.AccessToken", "refapi.APIKey", "sandbox.Credentials",
	} {
		assert.True(t, holders[name], "no secret was planted in %s", name)
	}
}

// soundsSecret tells names of what a credential or a proof is made of.
var soundsSecret = regexp.MustCompile(`(?i)token|secret|password|passphrase|private|cvv|cardnumber|signature|credential|apikey|bearer|mnemonic|seed`)

// notSecret are fields that sound so, and why they may print.
var notSecret = map[string]string{
	"model.Contract.SignatureRequestID":      "an id",
	"dapi.Chain.Tokens":                      "assets",
	"dapi.ContactCryptoView.Token":           "an asset",
	"dapi.CryptoDestination.Token":           "an asset",
	"dapi.Payout.Signature":                  "of one request, as the service shows it",
	"dapi.PayoutCreate.Signature":            "of one request",
	"dapi.Session.Credential":                "a digest that names the credential",
	"appapi.ContractCreate.RequireSignature": "whether one is asked for",
	"deployment.Settings.Seed":               "of what the test host does by chance",
}

// A member that sounds like a secret is one, or it is known why not: a new one in the descriptions needs x-sensitive.
func TestWhatSoundsSecretIsASecret(t *testing.T) {
	sounding := map[string]bool{}
	for _, typ := range exportedTypes {
		if typ.Kind() != reflect.Struct {
			continue
		}
		for i := range typ.NumField() {
			field := typ.Field(i)
			name := typ.String() + "." + field.Name
			if !field.IsExported() || !soundsSecret.MatchString(field.Name) || secretType(field.Type) {
				continue
			}
			sounding[name] = true
			assert.NotEmpty(t, notSecret[name], "%s is a %s, and sounds like a secret", name, field.Type)
		}
	}
	for name := range notSecret {
		assert.True(t, sounding[name], "%s is no field that sounds like a secret", name)
	}
}

func secretType(typ reflect.Type) bool {
	for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	_, secret := planted[typ]
	return secret
}
