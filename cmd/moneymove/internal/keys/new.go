package keys

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/keyfiles"
	"github.com/moneymovement/moneymovement-go/internal/shell"
)

const newHelp = `Makes a new key and writes it to FILE, which only you can read (mode 0600). It never overwrites a file. It prints the
public half, which is not secret, in the form that the service wants.

The types are p256 (ECDSA, the usual one), ed25519, rsa2048, and secp256k1, which is also the key of a wallet. With
-passphrase-file the key is encrypted. secp256k1 keys cannot be encrypted.`

func newCommand(a *app.App) *cobra.Command {
	var kind, passphraseFile string
	command := &cobra.Command{
		Use: "new FILE", Short: "Make a key, and write it to a new file", Long: newHelp,
		Example: "  moneymove keys new developer.pem\n" +
			"  moneymove keys new developer.pem -type ed25519 -passphrase-file passphrase.txt",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return makeKey(a, args[0], kind, passphraseFile) },
	}
	command.Flags().StringVar(&kind, "type", keyfiles.Types[0], "`type`: "+strings.Join(keyfiles.Types, ", "))
	command.Flags().StringVar(&passphraseFile, "passphrase-file", "",
		"encrypt the key with the passphrase on the first line of this `file`, or of - for standard input")
	_ = command.RegisterFlagCompletionFunc("type",
		cobra.FixedCompletions(keyfiles.Types, cobra.ShellCompDirectiveNoFileComp))
	return command
}

func makeKey(a *app.App, path, kind, passphraseFile string) error {
	if path == "-" {
		return app.Usagef("a private key is not printed: name a file")
	}
	passphrase, err := keyfiles.Passphrase(a, "passphrase-file", passphraseFile)
	if err != nil {
		return err
	}
	defer clear(passphrase)
	key, err := keyfiles.Generate(kind)
	if err != nil {
		return app.Usagef("-type: %w", err)
	}
	if err := keyfiles.Write(path, key, keyfiles.PKCS8, passphrase); err != nil {
		return err
	}
	made := viewOf(path, keyfiles.File{Key: key, Encrypted: passphrase != nil})
	if err := a.Print(made, made.table); err != nil {
		return err
	}
	if a.Terminal {
		_, _ = fmt.Fprintf(a.Err, "\nNext, register the public key. In the service's application, add it as a "+
			"developer key of your account.\nAt a sandbox host on this machine:\n\n%s\n", registration(made))
	}
	return nil
}

// registration returns the commands that register a key at a sandbox host. It reads plain developer keys, and otherwise
// the public half.
func registration(made view) string {
	if !made.Encrypted && made.Address == "" {
		return "  " + shell.Line("moneymove", "keys", "register", made.File)
	}
	public := made.File + ".pub"
	convert := []string{"moneymove", "keys", "convert", made.File, public, "-public"}
	if made.Encrypted {
		convert = append(convert, "-passphrase-file", "FILE")
	}
	return "  " + shell.Line(convert...) + "\n  " + shell.Line("moneymove", "keys", "register", public)
}
