package transport

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// CredentialName tells apart who logs in where, without showing it.
func CredentialName(baseURL, email string, publicKey []byte) string {
	digest := sha256.New()
	for _, part := range []string{strings.TrimRight(baseURL, "/"), email, string(publicKey)} {
		fmt.Fprintf(digest, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(digest.Sum(nil)[:16])
}
