// Package keys has the commands for key files: they make a key, show its public half, and convert it.
package keys

import (
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/keyfiles"
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

func viewOf(path string, file keyfiles.File) view {
	return view{
		File: path, Algorithm: string(file.Key.Algorithm()), PublicKey: file.Key.PublicKeyBase64(),
		Fingerprint: keyfiles.Fingerprint(file.Key), Encrypted: file.Encrypted, PrivateHalf: true,
		Address: keyfiles.Address(file.Key),
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
