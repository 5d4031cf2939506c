// Command hcloud reads one key with hcloud-go.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

func main() {
	api := hcloud.NewClient(hcloud.WithEndpoint(os.Args[1]), hcloud.WithToken("token-of-nobody"))
	key, _, err := api.SSHKey.GetByID(context.Background(), 1)
	fmt.Println(key, err)
}
