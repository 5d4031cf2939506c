package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.step.sm/crypto/kms/apiv1"

	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/signing"
)

// token makes a token, and returns the address of a key in it. It skips the test if this machine has none.
func token(t *testing.T) (uri string) {
	t.Helper()
	testkit.Long(t, "makes a token of SoftHSM")
	if !withPKCS11 {
		testkit.Missing(t, "hsm", "PKCS #11 needs cgo: install a C compiler, and do not set CGO_ENABLED=0")
	}
	t.Setenv("SOFTHSM2_CONF", "") // restored after the test
	uri, err := softToken(t.Context(), t.TempDir())
	if errors.Is(err, errNoSoftHSM) {
		testkit.Missing(t, "hsm", errNoSoftHSM.Error()+"; .ci/install installs it")
	}
	require.NoError(t, err)
	return uri
}

func TestPaysWithAKeyOfItsOwn(t *testing.T) {
	token(t) // or it skips the test
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), nil, &out))
	for _, step := range []string{"made a token of SoftHSM", "cannot be saved", "logged in with the key",
		"the payment is paid: payout of 12.5 USDC is completed"} {
		assert.Contains(t, out.String(), step)
	}
	assert.NoFileExists(t, "developer.pem")
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left, "the token is removed")
}

// A key is made once, and used by each later start of a program.
func TestPaysWithANamedKey(t *testing.T) {
	uri := token(t)
	fingerprint := ""
	for _, args := range [][]string{{"-key", uri, "-create"}, {"-key", uri}} {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), args, &out))
		assert.Contains(t, out.String(), "the payment is paid")
		line, _, _ := strings.Cut(out.String(), "\n")
		if fingerprint == "" {
			fingerprint = line
		}
		assert.Equal(t, fingerprint, line, "it is the same key")
	}
	var out bytes.Buffer
	require.ErrorContains(t, run(t.Context(), []string{"-key", uri, "-create"}, &out), "already exists")
}

// What is wrong with a key is said before anything is sent.
func TestKeysThatCannotBeUsed(t *testing.T) {
	uri := token(t)
	for name, c := range map[string]struct{ uri, says string }{
		"no such key":    {uri, "was not found"},
		"a wrong PIN":    {uri[:strings.Index(uri, "?")] + "?pin-value=0000", "CKR_PIN_INCORRECT"},
		"no such token":  {strings.Replace(uri, "token=payments", "token=other", 1), "could not find PKCS#11 token"},
		"no such module": {strings.Replace(uri, "module-path=", "module-path=/nowhere", 1), "failed to open module"},
		"another scheme": {"other:key", "kms type"},
	} {
		var out bytes.Buffer
		require.ErrorContains(t, run(t.Context(), []string{"-key", c.uri}, &out), c.says, name)
		assert.NotContains(t, out.String(), "logged in", name)
	}
	require.ErrorIs(t, run(t.Context(), []string{"-help"}, new(bytes.Buffer)), flag.ErrHelp)
	require.Error(t, run(t.Context(), []string{"-unknown"}, new(bytes.Buffer)))
}

// Without -key, the program makes a token and a key of its own anyway, and removes both: -create would do nothing.
func TestCreateNeedsAKey(t *testing.T) {
	var out bytes.Buffer
	require.ErrorContains(t, run(t.Context(), []string{"-create"}, &out), "-create needs -key")
	assert.Empty(t, out.String())
}

// What cannot be opened is named, with what to look at, and without the PIN.
func TestNamesTheAddressThatCannotBeOpened(t *testing.T) {
	if !withPKCS11 {
		testkit.Missing(t, "hsm", "PKCS #11 needs cgo: install a C compiler, and do not set CGO_ENABLED=0")
	}
	uri := token(t)
	place, pinFile, _ := strings.Cut(uri, "?pin-source=")
	for name, broken := range map[string]string{
		"token":    strings.Replace(uri, "token=payments", "token=other", 1),
		"module":   strings.Replace(uri, "module-path=", "module-path=/nowhere", 1),
		"PIN":      place + "?pin-value=99887766",
		"PIN file": place + "?pin-source=" + pinFile + ".gone",
	} {
		err := run(t.Context(), []string{"-key", broken}, new(bytes.Buffer))
		named, _, _ := strings.Cut(broken, "?pin-value")
		require.ErrorContains(t, err, named+" cannot be opened", name)
		require.ErrorContains(t, err, "look at", name)
		assert.NotContains(t, err.Error(), "99887766", name)
	}
}

// An error says what is wrong with an address, and never which PIN is in it.
func TestAddressesThatCannotBeUsed(t *testing.T) {
	for uri, says := range map[string]string{
		"token=a;pin-value=123456":                       "error parsing the address of -key: scheme is missing",
		"pkcs11:token=a;pin-value=123456%":               "error parsing the address of -key: invalid URL escape",
		"pkcs11:token=a?pin-value=123456\x7f":            "invalid control character",
		"pkcs11://token=a:pin-value=123456":              "repeats its PIN",
		"pkcs11:module-path=/nowhere;pin-value=123456%2": "the address of -key",
	} {
		err := run(t.Context(), []string{"-key", uri}, new(bytes.Buffer))
		require.ErrorContains(t, err, says, uri)
		assert.NotContains(t, err.Error(), "123456", uri)
	}
	if _, linked := apiv1.LoadKeyManagerNewFunc(apiv1.AmazonKMS); linked {
		return
	}
	for _, uri := range []string{"awskms:region=eu-central-1;key-id=1", "AZUREKMS:name=a", "cloudkms:projects/a"} {
		require.ErrorContains(t, run(t.Context(), []string{"-key", uri}, new(bytes.Buffer)), "-tags cloud", uri)
	}
}

// The key signs inside its token, and the SDK verifies what it signs.
func TestSignsInsideTheToken(t *testing.T) {
	uri := token(t)
	module, key, err := open(t.Context(), uri, true)
	require.NoError(t, err)
	defer module.Close()
	assert.Equal(t, signing.ECDSAP256SHA256, key.Algorithm())
	for range 20 {
		signature, err := key.Sign(t.Context(), []byte("message"))
		require.NoError(t, err)
		require.NoError(t, signing.Verify(key.PublicKey(), []byte("message"), signature))
	}
	require.ErrorContains(t, key.Save(t.TempDir()+"/key.pem"), "cannot be saved")
}

// Builds without cgo go on: the program then says what it lacks.
func TestSaysThatItNeedsCgo(t *testing.T) {
	testkit.Long(t, "builds the program")
	name := t.TempDir() + "/hsm"
	build := exec.CommandContext(t.Context(), "go", "build", "-o", name, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
	for _, args := range [][]string{nil, {"-key", "pkcs11:token=payments;object=developer"}} {
		said, err = exec.CommandContext(t.Context(), name, args...).CombinedOutput()
		require.Error(t, err)
		assert.Contains(t, string(said), "compiled without cgo")
		assert.NotContains(t, string(said), "made a token")
	}
}
