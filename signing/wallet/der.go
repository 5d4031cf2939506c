package wallet

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509/pkix"
	"encoding/asn1"

	"github.com/ethereum/go-ethereum/crypto"
)

// crypto/x509 does not support secp256k1, so its few ASN.1 structures are here (RFC 5280, 5480, 5915, 5958).

var (
	oidECPublicKey = asn1.ObjectIdentifier{1, 2, 840, 10045, 2, 1}
	oidSecp256k1   = asn1.ObjectIdentifier{1, 3, 132, 0, 10}
)

type subjectPublicKeyInfo struct {
	Algorithm pkix.AlgorithmIdentifier
	PublicKey asn1.BitString
}

type ecPrivateKey struct {
	Version    int
	PrivateKey []byte
	Curve      asn1.ObjectIdentifier `asn1:"optional,explicit,tag:0"`
	PublicKey  asn1.BitString        `asn1:"optional,explicit,tag:1"`
}

type privateKeyInfo struct {
	Version    int
	Algorithm  pkix.AlgorithmIdentifier
	PrivateKey []byte
}

// encryptedPrivateKeyInfo is the structure of RFC 5958.
type encryptedPrivateKeyInfo struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

func algorithmIdentifier() (pkix.AlgorithmIdentifier, error) {
	curve, err := asn1.Marshal(oidSecp256k1)
	return pkix.AlgorithmIdentifier{Algorithm: oidECPublicKey, Parameters: asn1.RawValue{FullBytes: curve}}, err
}

func isSecp256k1(id pkix.AlgorithmIdentifier) bool {
	var curve asn1.ObjectIdentifier
	_, err := asn1.Unmarshal(id.Parameters.FullBytes, &curve) // FullBytes is one value, so nothing follows
	return err == nil && id.Algorithm.Equal(oidECPublicKey) && curve.Equal(oidSecp256k1)
}

func marshalPublicKey(public *ecdsa.PublicKey) ([]byte, error) {
	id, err := algorithmIdentifier()
	if err != nil {
		return nil, err
	}
	point := crypto.FromECDSAPub(public)
	return asn1.Marshal(subjectPublicKeyInfo{id, asn1.BitString{Bytes: point, BitLength: 8 * len(point)}})
}

// secp256k1Point returns the uncompressed point of a secp256k1 SubjectPublicKeyInfo. ok is false for keys of another
// kind. If ok is true and point is nil, the secp256k1 key is not valid.
func secp256k1Point(der []byte) (point []byte, ok bool) {
	var info subjectPublicKeyInfo
	if _, err := asn1.Unmarshal(der, &info); err != nil || !isSecp256k1(info.Algorithm) {
		return nil, false
	}
	public, err := crypto.UnmarshalPubkey(info.PublicKey.Bytes)
	if err != nil {
		return nil, true
	}
	// encoding/asn1 ignores what follows, but a key must have one encoding only.
	if again, err := marshalPublicKey(public); err != nil || !bytes.Equal(again, der) {
		return nil, true
	}
	return info.PublicKey.Bytes, true
}
