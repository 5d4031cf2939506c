// Command hcloud reads one key with hcloud-go.
package main

import (
	"context"
	"os"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/moneymovement/moneymovement-go/bench/programs/done"
)

func main() {
	api := hcloud.NewClient(hcloud.WithEndpoint(os.Args[1]), hcloud.WithToken("token-of-nobody"))
	key, _, err := api.SSHKey.GetByID(context.Background(), 1)
	done.With(key, err)
}
