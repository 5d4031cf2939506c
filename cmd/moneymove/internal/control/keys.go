package control

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/signing"
)

// developerKey is a developer key that the host knows: its public half.
type developerKey struct {
	ID        string    `json:"id"`
	Email     string    `json:"email"`
	Scopes    []string  `json:"scopes"`
	Allowlist []string  `json:"allowlist"`
	CreatedAt time.Time `json:"createdAt"`
}

func keyTable(keys []developerKey) app.Table {
	table := app.Table{Head: []string{"KEY", "EMAIL", "SCOPES", "ADDRESSES", "CREATED"}}
	for _, k := range keys {
		addresses := "any"
		if len(k.Allowlist) > 0 {
			addresses = strings.Join(k.Allowlist, ",")
		}
		table.Rows = append(table.Rows, []string{k.ID, k.Email, strings.Join(k.Scopes, ","), addresses,
			k.CreatedAt.UTC().Format(time.RFC3339)})
	}
	return table
}

// KeyCommands returns the commands for the developer keys that the host knows.
func KeyCommands(a *app.App) []*cobra.Command {
	known := &cobra.Command{Use: "list", Short: "List the developer keys that the sandbox host knows"}
	target := NewTarget(a, known)
	known.RunE = func(c *cobra.Command, _ []string) error {
		return call(c.Context(), target, http.MethodGet, "/keys", nil,
			func(keys list[developerKey]) app.Table { return keyTable(keys.Items) })
	}
	return []*cobra.Command{known, registerCommand(a), deleteCommand(a)}
}

func registerCommand(a *app.App) *cobra.Command {
	body := struct {
		Email     string   `json:"email"`
		PublicKey string   `json:"publicKey"`
		Scopes    []string `json:"scopes,omitzero"`
		Allowlist []string `json:"allowlist,omitzero"`
	}{}
	command := &cobra.Command{
		Use:   "register FILE",
		Short: "Register a developer key at the sandbox host",
		Long: `Registers a developer key at the sandbox host. FILE is a PEM file with the public
key or the private key; - is standard input. Only the public half is sent.`,
		Example: "  moneymove keys register developer.pem -email ops@example.com",
		Args:    cobra.ExactArgs(1),
	}
	target := NewTarget(a, command)
	command.Flags().StringVar(&body.Email, "email", "ops@example.com",
		"`email` of the account; the host creates the account if it does not know it")
	command.Flags().StringSliceVar(&body.Scopes, "scope", nil, "`scope` of the key; repeat it for more (default: all)")
	command.Flags().StringSliceVar(&body.Allowlist, "allow", nil,
		"`address` or network from which the key works; repeat it for more (default: any)")
	command.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if body.PublicKey, err = publicKey(a, args[0]); err != nil {
			return err
		}
		return call(c.Context(), target, http.MethodPost, "/keys", body,
			func(key developerKey) app.Table { return keyTable([]developerKey{key}) })
	}
	return command
}

// maxKeyFile is more than any key has.
const maxKeyFile = 64 << 10

// publicKey reads the public half of a key, as DER in base64.
func publicKey(a *app.App, path string) (string, error) {
	source := a.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", app.Usagef("%w", err)
		}
		defer func() { _ = file.Close() }()
		source = file
	}
	text, err := io.ReadAll(io.LimitReader(source, maxKeyFile))
	if err != nil {
		return "", err
	}
	if block, _ := pem.Decode(text); block != nil && block.Type == "PUBLIC KEY" {
		return base64.StdEncoding.EncodeToString(block.Bytes), nil
	}
	key, err := signing.ParseDeveloperKey(text)
	if err != nil {
		return "", app.Usagef("%s: %w", path, err)
	}
	return key.PublicKeyBase64(), nil
}

func deleteCommand(a *app.App) *cobra.Command {
	command := &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a developer key from the sandbox host",
		Long:  `Deletes a developer key from the sandbox host. Its sessions end.`,
		Args:  cobra.ExactArgs(1),
	}
	target := NewTarget(a, command)
	command.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return target.suggest(c.Context(), func(ctx context.Context, client *Client) ([]string, error) {
			var keys list[developerKey]
			err := client.Get(ctx, "/keys", &keys)
			var ids []string
			for _, k := range keys.Items {
				ids = append(ids, k.ID+"\t"+k.Email)
			}
			return ids, err
		})
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		if args[0] == "" {
			return app.Usagef("%w", errors.New("the id is empty; `moneymove keys list` lists them"))
		}
		return do(c.Context(), target, http.MethodDelete, "/keys/"+escaped(args[0]), nil, "deleted", args[0],
			args[0]+" is deleted.")
	}
	return command
}
