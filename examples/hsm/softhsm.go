package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// errNoSoftHSM says what to install.
var errNoSoftHSM = errors.New("SoftHSM is missing: install it, for example Debian's package softhsm2, " +
	"or name a key with -key")

// modules are where packages put SoftHSM's module.
var modules = []string{
	"/usr/lib/softhsm/libsofthsm2.so", "/usr/lib*/*/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so",
	"/usr/local/lib/softhsm/libsofthsm2.so", "/opt/homebrew/lib/softhsm/libsofthsm2.so",
}

// softToken makes a token of SoftHSM in a folder, and returns the address of a key in it, which does not exist yet. It
// sets the variable SOFTHSM2_CONF, by which the module finds the token.
func softToken(ctx context.Context, folder string) (uri string, err error) {
	util, err := exec.LookPath("softhsm2-util")
	if err != nil {
		return "", errNoSoftHSM
	}
	module := ""
	for _, pattern := range modules {
		if found, _ := filepath.Glob(pattern); len(found) > 0 && module == "" {
			module = found[0]
		}
	}
	if module == "" {
		return "", errNoSoftHSM
	}
	tokens, conf, pinFile := filepath.Join(folder, "tokens"), filepath.Join(folder, "softhsm2.conf"),
		filepath.Join(folder, "pin")
	pin := rand.Text()
	if err := errors.Join(os.Mkdir(tokens, 0o700), os.WriteFile(pinFile, []byte(pin), 0o600),
		os.WriteFile(conf, []byte("directories.tokendir = "+tokens+"\nobjectstore.backend = file\n"), 0o600),
		os.Setenv("SOFTHSM2_CONF", conf)); err != nil {
		return "", err
	}
	// Other users of this machine can see the PIN here, and not the folder with the token.
	making := exec.CommandContext(ctx, util, "--init-token", "--free", "--label", "payments", "--so-pin", pin,
		"--pin", pin) //gosec:disable G204 -- a program of this name, in the PATH of whoever starts this one
	said, err := making.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("softhsm2-util: %w: %s", err, strings.TrimSpace(string(said)))
	}
	return "pkcs11:module-path=" + module + ";token=payments;id=01;object=developer?pin-source=" + pinFile, nil
}
