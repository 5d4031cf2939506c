package keys

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/keyfiles"
)

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
				flags.form = keyfiles.Public
			}
			return convert(a, flags, args[0], args[1])
		},
	}
	set := command.Flags()
	set.StringVar(&flags.form, "form", keyfiles.PKCS8, "`form` of OUT: "+strings.Join(keyfiles.PrivateForms, ", "))
	set.BoolVar(&flags.public, "public", false, "write only the public half")
	passphraseFlag(command, &flags.passphraseFile)
	set.StringVar(&flags.newPassphraseFile, "new-passphrase-file", "",
		"encrypt OUT with the passphrase on the first line of this `file`, or of - for standard input")
	_ = command.RegisterFlagCompletionFunc("form",
		cobra.FixedCompletions(keyfiles.PrivateForms, cobra.ShellCompDirectiveNoFileComp))
	return command
}

func convert(a *app.App, flags convertFlags, from, to string) error {
	if to == "-" {
		return app.Usagef("a key is not printed: name a file as OUT")
	}
	file, err := keyfiles.Open(a, from, flags.passphraseFile)
	if err != nil {
		return err
	}
	passphrase, err := keyfiles.Passphrase(a, "new-passphrase-file", flags.newPassphraseFile)
	if err != nil {
		return err
	}
	defer clear(passphrase)
	if err := keyfiles.Write(to, file.Key, flags.form, passphrase); err != nil {
		return err
	}
	made := viewOf(to, keyfiles.File{Key: file.Key, Encrypted: passphrase != nil})
	made.PrivateHalf = !flags.public
	return a.Print(made, made.table)
}
