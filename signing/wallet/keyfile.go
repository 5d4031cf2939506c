package wallet

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/internal/keyfile"
)

// ParseKey reads a secp256k1 private key that is not encrypted, in PEM or DER: PKCS #8 or SEC 1. It returns
// [*signing.KeyRefused] for anything else.
func ParseKey(pemOrDER []byte) (*Key, error) {
	der, malformed := keyfile.Decode(pemOrDER)
	if malformed != nil {
		return nil, &signing.KeyRefused{Kind: malformed.Kind, Reason: malformed.Reason}
	}
	var info privateKeyInfo
	if _, err := asn1.Unmarshal(der, &info); err == nil {
		if !isSecp256k1(info.Algorithm) {
			return nil, refused("the key is of another algorithm or curve")
		}
		return parseSEC1(info.PrivateKey, false)
	}
	var encrypted encryptedPrivateKeyInfo
	if _, err := asn1.Unmarshal(der, &encrypted); err == nil {
		return nil, refused(`the key is encrypted; decrypt it with "openssl pkcs8"`)
	}
	return parseSEC1(der, true)
}

// parseSEC1 reads an ECPrivateKey. It must name its curve, unless the PKCS #8 structure around it does.
func parseSEC1(der []byte, curveRequired bool) (*Key, error) {
	var ec ecPrivateKey
	rest, err := asn1.Unmarshal(der, &ec)
	if err != nil || len(rest) != 0 || ec.Version != 1 {
		return nil, refused("the data is not a PKCS #8 or SEC 1 private key")
	}
	if (curveRequired || ec.Curve != nil) && !ec.Curve.Equal(oidSecp256k1) {
		return nil, refused("the key is on another curve")
	}
	key, err := fromScalar(ec.PrivateKey)
	if err != nil {
		return nil, err
	}
	if public := ec.PublicKey.Bytes; len(public) != 0 && !key.hasPublicPoint(public) {
		return nil, refused("the public key in the data does not belong to the private key")
	}
	return key, nil
}

// hasPublicPoint reports whether point is the public key, in either of its encodings.
func (k *Key) hasPublicPoint(point []byte) bool {
	public := &k.private().PublicKey
	return bytes.Equal(point, crypto.FromECDSAPub(public)) || bytes.Equal(point, crypto.CompressPubkey(public))
}

// LoadKey reads a private key file in a format of [ParseKey]. Errors are those of ParseKey and of os.Open, such as
// fs.ErrNotExist. It does not check the permissions of the file, because in containers a group can often read secrets.
// Protect the file yourself.
func LoadKey(path string) (*Key, error) {
	data, err := keyfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("wallet: load key: %w", err)
	}
	defer clear(data)
	key, err := ParseKey(data)
	if err != nil {
		return nil, fmt.Errorf("wallet: load key %s: %w", path, err)
	}
	return key, nil
}

// Save writes the private key to a new file in PKCS #8 PEM. Only the owner can read the file (mode 0600). Save writes
// the whole file or nothing, and never overwrites a file: if path exists, it returns fs.ErrExist. It returns
// signing.ErrNoKey for a zero key.
func (k *Key) Save(path string) error {
	der, err := k.encode()
	if err != nil {
		return err
	}
	if err := keyfile.Create(path, plainBlock, der); err != nil {
		return fmt.Errorf("wallet: save private key: %w", err)
	}
	return nil
}

// PEM returns the private key as [Key.Save] writes it, for a secret store in place of a file. It returns
// signing.ErrNoKey for a zero key.
func (k *Key) PEM() ([]byte, error) {
	der, err := k.encode()
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: plainBlock, Bytes: der}), nil
}

// plainBlock is the PEM type of a private key that is not encrypted.
const plainBlock = "PRIVATE KEY"

func (k *Key) encode() ([]byte, error) {
	if k == nil || k.private == nil {
		return nil, signing.ErrNoKey
	}
	der, err := k.marshalPrivateKey()
	if err != nil {
		return nil, fmt.Errorf("wallet: encode private key: %w", err)
	}
	return der, nil
}

func (k *Key) marshalPrivateKey() ([]byte, error) {
	private := k.private()
	point := crypto.FromECDSAPub(&private.PublicKey)
	inner, err := asn1.Marshal(ecPrivateKey{
		Version:    1,
		PrivateKey: crypto.FromECDSA(private),
		PublicKey:  asn1.BitString{Bytes: point, BitLength: 8 * len(point)},
	})
	if err != nil {
		return nil, err
	}
	id, err := algorithmIdentifier()
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(privateKeyInfo{Algorithm: id, PrivateKey: inner})
}

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
