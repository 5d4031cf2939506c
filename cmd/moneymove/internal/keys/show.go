package keys

import (
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/keyfiles"
)

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
			file, err := keyfiles.Open(a, args[0], passphraseFile)
			if err != nil {
				return err
			}
			shown := viewOf(args[0], file)
			return a.Print(shown, shown.table)
		},
	}
	passphraseFlag(command, &passphraseFile)
	return command
}

func passphraseFlag(command *cobra.Command, path *string) {
	command.Flags().StringVar(path, "passphrase-file", "",
		"`file` whose first line is the passphrase of FILE, or - for standard input")
}
