package wallet

import (
	"bytes"
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
