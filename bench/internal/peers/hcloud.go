package peers

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

func hcloudPeer() peer {
	key := func(number int, filler string) string {
		return fmt.Sprintf(`{"id":%d,"name":"key-%d","fingerprint":"b7:2f:30:a0:2f:6c:58:6c:21:04:58:61:ba:06:3b:2f",`+
			`"public_key":"ssh-rsa %s","labels":{"env":"dev"},"created":"2031-05-04T10:00:00Z"}`, 2323+number, number,
			filler)
	}
	return peer{
		id: "hcloud", module: "github.com/hetznercloud/hcloud-go/v2",
		one: padded(oneSize, func(filler string) string { return `{"ssh_key":` + key(0, filler) + `}` }),
		page: listed(`{"ssh_keys":[`, key, `],"meta":{"pagination":{"page":1,"per_page":100,"previous_page":null,`+
			`"next_page":null,"last_page":1,"total_entries":100}}}`),
		missing: `{"error":{"code":"not_found","message":"SSH key not found","details":null}}`,
		sdk:     hcloudSDK, hand: hcloudByHand,
	}
}

func hcloudSDK(base string, client *http.Client) calls {
	api := hcloud.NewClient(hcloud.WithEndpoint(strings.TrimSuffix(base, "/")), hcloud.WithToken(token),
		hcloud.WithHTTPClient(client), hcloud.WithRetryOpts(hcloud.RetryOpts{MaxRetries: 0}))
	return calls{
		get: reads(func(ctx context.Context) (*hcloud.SSHKey, error) {
			key, _, err := api.SSHKey.GetByID(ctx, 2323)
			return key, err
		}),
		page: reads(func(ctx context.Context) ([]*hcloud.SSHKey, error) {
			keys, _, err := api.SSHKey.List(ctx,
				hcloud.SSHKeyListOpts{ListOpts: hcloud.ListOpts{Page: 1, PerPage: 100}})
			return keys, err
		}),
		// a read of a key that is not there returns nil, and no error
		refused: refuses[hcloud.Error](func(ctx context.Context) (*hcloud.Response, error) {
			return api.SSHKey.Delete(ctx, &hcloud.SSHKey{ID: 2323})
		}),
	}
}

type hcloudKey struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	Fingerprint string            `json:"fingerprint"`
	PublicKey   string            `json:"public_key"`
	Labels      map[string]string `json:"labels"`
	Created     time.Time         `json:"created"`
}

type hcloudOne struct {
	SSHKey hcloudKey `json:"ssh_key"`
}

type hcloudPage struct {
	SSHKeys []hcloudKey `json:"ssh_keys"`
	Meta    struct {
		Pagination struct {
			NextPage     *int `json:"next_page"`
			TotalEntries int  `json:"total_entries"`
		} `json:"pagination"`
	} `json:"meta"`
}

func hcloudByHand(base string, client *http.Client) calls {
	c := byHand{base, client}
	return calls{
		get:     reads(fetch[hcloudOne](c, http.MethodGet, "ssh_keys/2323")),
		page:    reads(fetch[hcloudPage](c, http.MethodGet, "ssh_keys?page=1&per_page=100")),
		refused: refuses[*refusal](fetch[hcloudOne](c, http.MethodDelete, "ssh_keys/2323")),
	}
}
