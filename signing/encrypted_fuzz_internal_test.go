package signing

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

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
