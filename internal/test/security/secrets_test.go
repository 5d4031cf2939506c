package security

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/fleet"
	fleetredis "github.com/moneymovement/moneymovement-go/fleet/redis"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	fleetpostgres "github.com/moneymovement/moneymovement-go/payments/postgres/fleetpostgres"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
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
func TestFieldsThatSoundSecretAreSecrets(t *testing.T) {
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

// memory is a store that a test reads.
type memory struct{ session dapi.Session }

// Load implements dapi.TokenStore.
func (m *memory) Load(context.Context) (dapi.Session, error) { return m.session, nil }

// Save implements dapi.TokenStore.
func (m *memory) Save(_ context.Context, session dapi.Session) error {
	m.session = session
	return nil
}

// A client in use hides its credentials and its tokens: in its own fields, and in those of its connections, whose
// buffers hold the last request.
func TestNoClientShowsItsSecrets(t *testing.T) {
	w, store := worlds.Serve(t), &memory{}
	credentials := w.Host.Credentials()
	developer := dapi.Developer{Email: credentials.Email, Key: credentials.Key, Store: store}
	integrator := w.Integrator(developer)
	account := integrator.Self()
	w.Credit(account.Sandbox, "10", dapi.USDC)
	_, err := account.Payouts.Pay(t.Context(), dapi.PayoutCreate{ContactID: w.Contact(account.Contacts, worlds.SEPA()),
		Amount: decimal.RequireFromString("5"), Currency: dapi.USDC}, "canary-1", dapi.PayTerms{})
	require.NoError(t, err)
	own, err := dapi.NewSelfServe(w.URL, developer)
	require.NoError(t, err)
	_, err = own.Chains.List(t.Context(), dapi.ListChainsParams{})
	require.NoError(t, err)
	secrets := []string{store.session.AccessToken.Reveal(), store.session.RefreshToken.Reveal()}
	for _, value := range []any{integrator, *account, own, store.session, *store} {
		assertHidden(t, value, secrets...)
	}

	for _, key := range []appapi.APIKey{w.AppKey(), w.AppKey().InKeyHeader()} {
		app := w.App(key)
		_, err = app.Account.Profile(t.Context())
		require.NoError(t, err)
		assertHidden(t, app, credentials.APIKey.Reveal())
		assertHidden(t, app.Cards, credentials.APIKey.Reveal())
	}

	with := w.AccessToken()
	with.APIKey = refapi.NewAPIKey(credentials.APIKey.Reveal())
	reference := w.Reference(with)
	_, err = reference.Cards.List(t.Context())
	require.NoError(t, err)
	for _, value := range []any{reference, with, &with} {
		assertHidden(t, value, credentials.AccessToken.Reveal(), credentials.APIKey.Reveal())
	}

	assertHidden(t, credentials, credentials.AccessToken.Reveal(), credentials.APIKey.Reveal())
	assertHidden(t, w.Host.Requests(), secrets[0], secrets[1], credentials.AccessToken.Reveal(),
		credentials.APIKey.Reveal())
}

// keys are the private halves that a key holds, in the forms in which printers would write them.
func TestNoKeyShowsItsPrivateHalf(t *testing.T) {
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	scalar, err := curve.Bytes()
	require.NoError(t, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	rivest, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	for _, c := range []struct {
		private any
		secrets []string
	}{
		{curve, numbers(scalar)},
		{edwards, numbers(edwards.Seed())},
		{rivest, append(numbers(rivest.D.Bytes()), numbers(rivest.Primes[0].Bytes())...)},
	} {
		der, err := x509.MarshalPKCS8PrivateKey(c.private)
		require.NoError(t, err)
		key, err := signing.ParseDeveloperKey(der)
		require.NoError(t, err)
		for _, value := range []any{key, *key, dapi.Developer{Email: "ops@example.com", Key: key}} {
			assertHidden(t, value, c.secrets...)
		}
	}

	chain, err := wallet.Generate()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "wallet.pem")
	require.NoError(t, chain.Save(file))
	chain, err = wallet.LoadKey(file)
	require.NoError(t, err)
	hidden := hex.EncodeToString([]byte(canary + canary)[:32])
	known, err := wallet.ParseHex(hidden)
	require.NoError(t, err)
	scalar, err = hex.DecodeString(hidden)
	require.NoError(t, err)
	assertHidden(t, chain, "PRIVATE")
	for _, value := range []any{known, *known, dapi.Developer{Email: "ops@example.com", Key: known}} {
		assertHidden(t, value, numbers(scalar)...)
	}
}

// numbers are a private number as bytes, and in decimals as math/big prints it. Words of a big number print in
// decimals, too.
func numbers(scalar []byte) []string {
	number := new(big.Int).SetBytes(scalar)
	all := []string{string(scalar), number.String()}
	for _, word := range number.Bits() {
		all = append(all, new(big.Int).SetUint64(uint64(word)).String())
	}
	return all
}

// The key that protects a stored session is hidden, in the protection and in the stores that have it.
func TestNoTokenStoreShowsItsKey(t *testing.T) {
	key := []byte(canary + canary)[:32]
	onPostgres, err := fleetpostgres.NewTokenStore(nil, "c", fleetpostgres.WithEncryption(key))
	require.NoError(t, err)
	onRedis, err := fleetredis.NewTokenStore(nil, "c", fleetredis.WithEncryption(key))
	require.NoError(t, err)
	words := []string{canary}
	for _, word := range []int{0, 4} { // of the expanded key, which starts with the key
		words = append(words, fmt.Sprint(binary.BigEndian.Uint32(key[word:])),
			fmt.Sprint(binary.LittleEndian.Uint32(key[word:])))
	}
	for _, value := range []any{fleet.Encrypted(key), *onPostgres, onPostgres, *onRedis, onRedis} {
		assertHidden(t, value, words...)
	}
}
