// Package keys has the commands for key files. It reads, writes and converts developer keys of each type that package
// signing supports, and secp256k1 keys of wallets.
package keys

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/internal/shell"
)

// Commands returns the commands.
func Commands(a *app.App) []*cobra.Command {
	return []*cobra.Command{newCommand(a), showCommand(a), convertCommand(a)}
}

// view is what is shown of a key: never its private half.
type view struct {
	File        string `json:"file"`
	Algorithm   string `json:"algorithm"`
	PublicKey   string `json:"publicKey"`
	Fingerprint string `json:"fingerprint"`
	Encrypted   bool   `json:"encrypted"`
	PrivateHalf bool   `json:"privateHalf"`
	Address     string `json:"address,omitzero"`
}

func viewOf(path string, file File) view {
	return view{
		File: path, Algorithm: string(file.Key.Algorithm()), PublicKey: file.Key.PublicKeyBase64(),
		Fingerprint: Fingerprint(file.Key), Encrypted: file.Encrypted, PrivateHalf: true,
		Address: Address(file.Key),
	}
}

func (v view) table() app.Table {
	encrypted := "no"
	switch {
	case !v.PrivateHalf:
		encrypted = "no; the file has only the public half"
	case v.Encrypted:
		encrypted = "yes"
	}
	rows := [][]string{
		{"file", v.File}, {"algorithm", v.Algorithm}, {"public key", v.PublicKey}, {"fingerprint", v.Fingerprint},
		{"encrypted", encrypted},
	}
	if v.Address != "" {
		rows = append(rows, []string{"address", v.Address})
	}
	return app.Table{Rows: rows}
}

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
	command.Flags().StringVar(&kind, "type", Types[0], "`type`: "+strings.Join(Types, ", "))
	command.Flags().StringVar(&passphraseFile, "passphrase-file", "",
		"encrypt the key with the passphrase on the first line of this `file`, or of - for standard input")
	_ = command.RegisterFlagCompletionFunc("type",
		cobra.FixedCompletions(Types, cobra.ShellCompDirectiveNoFileComp))
	return command
}

func makeKey(a *app.App, path, kind, passphraseFile string) error {
	if path == "-" {
		return app.Usagef("a private key is not printed: name a file")
	}
	passphrase, err := Passphrase(a, "passphrase-file", passphraseFile)
	if err != nil {
		return err
	}
	defer clear(passphrase)
	key, err := Generate(kind)
	if err != nil {
		return app.Usagef("-type: %w", err)
	}
	if err := Write(path, key, PKCS8, passphrase); err != nil {
		return err
	}
	created := viewOf(path, File{Key: key, Encrypted: passphrase != nil})
	if err := a.Print(created, created.table); err != nil {
		return err
	}
	if a.Terminal {
		_, _ = fmt.Fprintf(a.Err, "\nNext, register the public key. In the service's application, add it as a "+
			"developer key of your account.\nAt a sandbox host on this machine:\n\n%s\n", registration(created))
	}
	return nil
}

// registration returns the commands that register a key at a sandbox host. It reads plain developer keys, and otherwise
// the public half.
func registration(created view) string {
	if !created.Encrypted && created.Address == "" {
		return "  " + shell.Line("moneymove", "keys", "register", created.File)
	}
	public := created.File + ".pub"
	convert := []string{"moneymove", "keys", "convert", created.File, public, "-public"}
	if created.Encrypted {
		convert = append(convert, "-passphrase-file", "FILE")
	}
	return "  " + shell.Line(convert...) + "\n  " + shell.Line("moneymove", "keys", "register", public)
}

func showCommand(a *app.App) *cobra.Command {
	var passphraseFile string
	command := &cobra.Command{
		Use: "show FILE", Short: "Show the public half of a key, and its fingerprint",
		Long: `Shows the algorithm, the public half as the service wants it, the fingerprint, whether the file is encrypted, and for
a secp256k1 key the address of its wallet. It never shows the private half. FILE is PEM or DER with the private key; -
is standard input. The public half of an encrypted file needs the passphrase.`,
		Example: "  moneymove keys show developer.pem",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := Open(a, args[0], passphraseFile)
			if err != nil {
				return err
			}
			view := viewOf(args[0], file)
			return a.Print(view, view.table)
		},
	}
	passphraseFlag(command, &passphraseFile)
	return command
}

func passphraseFlag(command *cobra.Command, path *string) {
	command.Flags().StringVar(path, "passphrase-file", "",
		"`file` whose first line is the passphrase of FILE, or - for standard input")
}

const convertHelp = `Reads the key in FILE, and writes it to the new file OUT in another form. FILE stays as it is, and OUT is never
overwritten. Only you can read OUT (mode 0600).

The forms are PEM: pkcs8 for every key, sec1 for P-256 keys and pkcs1 for RSA keys, as OpenSSL writes them. FILE may
have any of them, or DER. Only pkcs8 can be encrypted: with -new-passphrase-file. An encrypted FILE needs
-passphrase-file; without -new-passphrase-file, OUT is then not encrypted. -public writes only the public half.`

const convertExamples = `  moneymove keys convert developer.pem encrypted.pem -new-passphrase-file passphrase.txt
  moneymove keys convert encrypted.pem plain.pem -passphrase-file passphrase.txt
  moneymove keys convert developer.pem openssl.pem -form sec1
  moneymove keys convert developer.pem public.pem -public`

// convertFlags are the flags of convert.
type convertFlags struct {
	form                              string
	public                            bool
	passphraseFile, newPassphraseFile string
}

func convertCommand(a *app.App) *cobra.Command {
	var flags convertFlags
	command := &cobra.Command{
		Use: "convert FILE OUT", Short: "Write a key in another form, encrypted or not, or only its public half",
		Long: convertHelp, Example: convertExamples, Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if flags.public {
				if c.Flags().Changed("form") || flags.newPassphraseFile != "" {
					return app.Usagef("-public writes the public half in its one form, which is not secret: " +
						"leave out -form and -new-passphrase-file")
				}
				flags.form = Public
			}
			return convert(a, flags, args[0], args[1])
		},
	}
	set := command.Flags()
	set.StringVar(&flags.form, "form", PKCS8, "`form` of OUT: "+strings.Join(PrivateForms, ", "))
	set.BoolVar(&flags.public, "public", false, "write only the public half")
	passphraseFlag(command, &flags.passphraseFile)
	set.StringVar(&flags.newPassphraseFile, "new-passphrase-file", "",
		"encrypt OUT with the passphrase on the first line of this `file`, or of - for standard input")
	_ = command.RegisterFlagCompletionFunc("form",
		cobra.FixedCompletions(PrivateForms, cobra.ShellCompDirectiveNoFileComp))
	return command
}

func convert(a *app.App, flags convertFlags, from, to string) error {
	if to == "-" {
		return app.Usagef("a key is not printed: name a file as OUT")
	}
	file, err := Open(a, from, flags.passphraseFile)
	if err != nil {
		return err
	}
	passphrase, err := Passphrase(a, "new-passphrase-file", flags.newPassphraseFile)
	if err != nil {
		return err
	}
	defer clear(passphrase)
	if err := Write(to, file.Key, flags.form, passphrase); err != nil {
		return err
	}
	converted := viewOf(to, File{Key: file.Key, Encrypted: passphrase != nil})
	converted.PrivateHalf = !flags.public
	return a.Print(converted, converted.table)
}
