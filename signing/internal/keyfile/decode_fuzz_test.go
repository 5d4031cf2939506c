package keyfile

import (
	"bytes"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
)

// FuzzDecode: what is taken for a key is one whole DER value that stands in the data, and what is refused is *Malformed
// and quotes none of it.
func FuzzDecode(f *testing.F) {
	der := []byte{0x30, 0x03, 0x02, 0x01, 0x00}
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	for _, data := range []string{
		key, string(der), "", key + key, "subject=a\n" + key + "after", strings.ReplaceAll(key, "\n", "\r\n"),
		strings.ReplaceAll(key, "PRIVATE", "EC PRIVATE"), strings.ReplaceAll(key, "PRIVATE", "ENCRYPTED PRIVATE"),
		strings.ReplaceAll(key, "PRIVATE", "OPENSSH PRIVATE"), strings.ReplaceAll(key, "PRIVATE", "PUBLIC"),
		"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n" + key,
		"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n" +
			"\nMAMCAQA=\n-----END RSA PRIVATE KEY-----\n",
		"-----BEGIN NOTHING",
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		der, err := Decode(data)
		if err != nil {
			malformed, ok := errors.AsType[*Malformed](err)
			switch {
			case der != nil || !ok:
				t.Fatalf("%d bytes beside %v", len(der), err)
			case len(malformed.Reason) > 200 || len(malformed.Kind) > 0 &&
				!bytes.Contains(data, []byte(malformed.Kind)):
				t.Fatalf("%q of %q", malformed.Reason, malformed.Kind)
			case len(malformed.Kind) == 0 && len(data) >= 16 && strings.Contains(err.Error(), string(data)):
				t.Fatalf("%q is quoted", data)
			}
			return
		}
		if len(data) > MaxSize {
			t.Fatalf("%d bytes were read", len(data))
		}
		var whole asn1.RawValue
		if rest, err := asn1.Unmarshal(der, &whole); err != nil || len(rest) > 0 {
			t.Fatalf("%x is not one DER value", der)
		}
		if again, err := Decode(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})); err != nil ||
			!bytes.Equal(again, der) {
			if !bytes.Contains(der, []byte("-----BEGIN ")) && len(der) < MaxSize/2 {
				t.Fatalf("%x is %x in PEM: %v", der, again, err)
			}
		}
	})
}
