package signing

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// isCanonical says whether the JSON library writes an object in the same way.
func isCanonical(data []byte) bool {
	value := codec.Value(bytes.Clone(data))
	return value.Canonicalize() == nil && value.Kind() == '{' && bytes.Equal(value, data)
}

func TestPlainlyCanonical(t *testing.T) {
	for data, want := range map[string]bool{
		`{"a":"x"}`: true,
		`{"a":"x","b":1,"c":{"d":"<'/ \u007f>"}}`:           false, // an escape
		"{\"a\":\"x\",\"b\":1,\"c\":{\"d\":\"<'/ \x7f>\"}}": true,
		`{"A":"","a":"","aa":""}`:                           true,
		`{"a":123456789012345}`:                             true,
		// canonical, and for the JSON library to say
		`{}`: false, `{"":"x"}`: false, `{"a":{}}`: false, `{"a":0}`: false, `{"a":-1}`: false, `{"a":1.5}`: false,
		`{"a":1234567890123456}`: false, `{"a":1e+21}`: false, `{"a":true}`: false, `{"a":null}`: false,
		`{"a":[]}`: false, `{"a":"é"}`: false, `{"a":"\n"}`: false, `{"a":"\\"}`: false,
		// not canonical
		``: false, `{`: false, `{"`: false, `{"a`: false, `{"a"`: false, `{"a":`: false, `{"a":"`: false,
		`{"a":"x"`: false, `{"a":"x",`: false, `{"a":"x",}`: false, `{"a":1`: false, `{"a":}`: false, `{"a":x}`: false,
		`{"a":"x"}}`: false, `{"a":"x"} `: false, ` {"a":"x"}`: false, `{ "a":"x"}`: false, `{"a": "x"}`: false,
		`{"a":"x","a":"x"}`: false, `{"b":"x","a":"x"}`: false, `{"a":"x" ,"b":1}`: false, `{"a":"x","b":01}`: false,
		`{"a":{"c":1,"b":1}}`: false, `{"a":1,,"b":1}`: false, `{"a":1{"b":1}`: false, `"a"`: false, `[1]`: false,
		"{\"a\":\"\x00\"}": false, "{\"a\":\"\x1f\"}": false, "{\"a\":\"\x80\"}": false, `{"a":"\/"}`: false,
	} {
		assert.Equal(t, want, plainlyCanonical([]byte(data)), "%q", data)
		if want {
			assert.True(t, isCanonical([]byte(data)), "%q", data)
		}
	}
	nested := strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000)
	assert.True(t, plainlyCanonical([]byte(nested)))
	assert.True(t, isCanonical([]byte(nested)))
}

// texts are likely to be the same, or to need care: escapes, and characters whose order differs in UTF-16.
func texts() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune("abA09 ,:{}[]\"\\/<\x00\x1f\n\x7fé\u2028\ufb33\U0001f600")), 0, 4,
		-1)
}

func values(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		texts().AsAny(), rapid.Int64Range(-2, 1<<60).AsAny(), rapid.Float64Range(-1e30, 1e30).AsAny(),
		rapid.Bool().AsAny(), rapid.Just[any](nil),
	}
	if depth > 0 {
		kinds = append(kinds, rapid.MapOfN(texts(), values(depth-1), 0, 4).AsAny(),
			rapid.SliceOfN(values(depth-1), 0, 3).AsAny())
	}
	return rapid.OneOf(kinds...)
}

// What is canonical at first sight is canonical, and the members of a canonical object are those that the JSON library
// finds.
func TestCanonicalObjectsAreReadAsTheLibraryReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, err := codec.Marshal(rapid.MapOfN(texts(), values(2), 0, 5).Draw(t, "object"))
		require.NoError(t, err)
		canonical := codec.Value(data)
		require.NoError(t, canonical.Canonicalize())

		var want map[string]codec.Value
		require.NoError(t, codec.Unmarshal(canonical, &want))
		got := map[string]codec.Value{}
		for _, found := range split(canonical) {
			got[string(found.name)] = found.value
		}
		require.Equal(t, want, got)
		for _, value := range got {
			if value.Kind() == '"' {
				var text string
				require.NoError(t, codec.Unmarshal(value, &text))
				require.Equal(t, text, string(unquote(value)))
			}
		}

		changed := bytes.Clone(canonical)
		changed[rapid.IntRange(0, len(changed)-1).Draw(t, "byte")] = rapid.Byte().Draw(t, "is")
		for _, data := range [][]byte{canonical, changed} {
			if plainlyCanonical(data) {
				require.True(t, isCanonical(data), "%q", data)
			}
		}
	})
}

// An object that breaks off, or has a character too many, is not canonical, wherever that is.
func TestTruncatedObjectIsNotCanonical(t *testing.T) {
	const whole = `{"a":{"b":"text","c":17},"d":"","e":1}`
	require.True(t, plainlyCanonical([]byte(whole)))
	for i := range whole {
		for _, end := range []string{"", `}`, `}}`, `"}`, "\x01}", "\xff}", `\}`, `0}`} {
			for _, data := range []string{whole[:i] + end, whole[:i] + end + whole[i:]} {
				assert.Equal(t, isCanonical([]byte(data)), checkCanonical([]byte(data)) == nil, "%q", data)
				if plainlyCanonical([]byte(data)) {
					assert.True(t, isCanonical([]byte(data)), "%q", data)
				}
			}
		}
	}
}

// wrapped is a signer of a type that the package does not know.
type wrapped struct{ crypto.Signer }

// A key without its public half cannot verify. So if it still signs, it does not verify.
func TestOnlySignaturesOfOtherSignersAreVerified(t *testing.T) {
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	for _, private := range []crypto.Signer{p256, edwards, rsaKey} {
		own, err := FromSigner(private)
		require.NoError(t, err)
		foreign, err := FromSigner(wrapped{private})
		require.NoError(t, err)
		pointer := edwards
		behind, err := FromSigner(&pointer)
		require.NoError(t, err)
		t.Run(string(own.Algorithm()), func(t *testing.T) {
			for _, key := range []*DeveloperKey{own, foreign, behind} {
				_, err := key.Sign(t.Context(), []byte("message"))
				require.NoError(t, err)
				key.public = nil
			}
			_, err := own.Sign(t.Context(), []byte("message"))
			require.NoError(t, err)
			for _, key := range []*DeveloperKey{foreign, behind} {
				_, err = key.Sign(t.Context(), []byte("message"))
				require.ErrorIs(t, err, ErrSignatureInvalid)
			}
			assert.True(t, own.proven)
		})
	}
}

// FuzzDecrypt: an encrypted key is refused as *KeyRefused before any work, or its decryption ends in a key or
// ErrPassphraseIncorrect. Those that ask for much work are only checked, so that the run is quick.
func FuzzDecrypt(f *testing.F) {
	files, err := filepath.Glob("testdata/*-encrypted*.pem")
	if err != nil || len(files) == 0 {
		f.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if block, _ := pem.Decode(data); block != nil {
			f.Add(block.Bytes)
		}
	}
	for _, kdf := range []pkix.AlgorithmIdentifier{
		parameters(f, oidPBKDF2, struct {
			Salt       []byte
			Iterations int
		}{[]byte("saltsalt"), 1}),
		parameters(f, oidScrypt, struct {
			Salt                   []byte
			Cost, BlockSize, Lanes int
		}{[]byte("saltsalt"), 2, 1, 1}),
	} {
		scheme := parameters(f, oidPBES2, struct{ KDF, Cipher pkix.AlgorithmIdentifier }{
			kdf, parameters(f, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}, make([]byte, 16)),
		})
		der, err := asn1.Marshal(encryptedPrivateKeyInfo{Algorithm: scheme, Data: make([]byte, 48)})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(der)
	}
	f.Fuzz(func(t *testing.T, der []byte) {
		if _, err := readEncryption(der); err != nil {
			if refused, ok := errors.AsType[*KeyRefused](err); !ok || refused.Err != nil || len(err.Error()) > 500 {
				t.Fatalf("refused by %v", err)
			}
			return
		}
		if !isEncrypted(der) {
			t.Fatalf("%x can be decrypted, and is not encrypted", der)
		}
		if asked(der) > 1000 {
			return
		}
		if private, err := decrypt(der, []byte("correct")); (private == nil) == (err == nil) || err != nil &&
			!errors.Is(err, ErrPassphraseIncorrect) {
			t.Fatalf("%T beside %v", private, err)
		}
	})
}

// asked is how much work a checked key asks for, in hashes of one block.
func asked(der []byte) int {
	var info encryptedPrivateKeyInfo
	_, _ = asn1.Unmarshal(der, &info)
	var scheme struct{ KDF, Cipher pkix.AlgorithmIdentifier }
	_, _ = asn1.Unmarshal(info.Algorithm.Parameters.FullBytes, &scheme)
	var cost struct {
		Salt  []byte
		N     int
		Rest  int `asn1:"optional"`
		Lanes int `asn1:"optional"`
	}
	_, _ = asn1.Unmarshal(scheme.KDF.Parameters.FullBytes, &cost)
	return cost.N * max(cost.Rest, 1) * max(cost.Lanes, 1)
}

func parameters(f *testing.F, algorithm asn1.ObjectIdentifier, value any) pkix.AlgorithmIdentifier {
	der, err := asn1.Marshal(value)
	if err != nil {
		f.Fatal(err)
	}
	return pkix.AlgorithmIdentifier{Algorithm: algorithm, Parameters: asn1.RawValue{FullBytes: der}}
}
