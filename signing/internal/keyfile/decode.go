package keyfile

import (
	"bytes"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"strings"
	"unicode"
)

// MaxSize is the largest size of a key file in bytes. An RSA 8192 key in PEM has less than 7 KiB.
const MaxSize = 64 << 10

// Malformed says why the data has no readable private key. It contains nothing of a key.
type Malformed struct {
	Kind   string // the PEM type, if there is one
	Reason string
}

func (e *Malformed) Error() string { return e.Reason }

// Decode returns the DER of the one private key in data, encrypted or not. In PEM, it skips other blocks. Data in DER
// must be exactly one value.
func Decode(data []byte) ([]byte, *Malformed) {
	if len(data) > MaxSize {
		return nil, &Malformed{Reason: fmt.Sprintf("the data has %d bytes, which is too long for a key", len(data))}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark, which some editors write
	der := data
	if bytes.Contains(data, []byte("-----BEGIN ")) {
		var malformed *Malformed
		if der, malformed = privateKeyBlock(data); malformed != nil {
			return nil, malformed
		}
	}
	// The parsers of crypto/x509 ignore what follows the key.
	var whole asn1.RawValue
	if rest, err := asn1.Unmarshal(der, &whole); err != nil || len(rest) != 0 {
		if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
			return nil, &Malformed{Reason: "the data is text in UTF-16: save it in UTF-8"}
		}
		return nil, &Malformed{Reason: "the data is neither PEM nor exactly one DER value"}
	}
	return der, nil
}

func privateKeyBlock(data []byte) (der []byte, malformed *Malformed) {
	var other string
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY":
			if block.Headers["DEK-Info"] != "" {
				return nil, &Malformed{block.Type,
					`legacy PEM encryption is not supported; convert it with "openssl pkcs8 -topk8"`}
			}
			if der != nil {
				return nil, &Malformed{Reason: "the data has more than one private key"}
			}
			der = block.Bytes
		default:
			other = block.Type
		}
	}
	switch {
	case der != nil:
		return der, nil
	case other == "OPENSSH PRIVATE KEY":
		return nil, &Malformed{other, `OpenSSH's own format is not supported; convert it with "ssh-keygen -p -m PKCS8"`}
	case other != "":
		return nil, &Malformed{other, "the data has no private key"}
	}
	return nil, &Malformed{Reason: "the PEM data is damaged"}
}

// longest is the largest length of a text, in bytes.
const longest = 200

// OneLine makes a name from a key file, a payload or a document safe for an error text: one line of limited length,
// with a space for each character that does not print.
func OneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}
