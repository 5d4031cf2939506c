package peers

import (
	"context"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/pagination"
)

func openaiPeer() peer {
	file := func(number int, filler string) string {
		return fmt.Sprintf(`{"id":"file-%08d","object":"file","bytes":120000,"created_at":1935000000,`+
			`"expires_at":1936000000,"filename":"%s.jsonl","purpose":"batch","status":"processed"}`, number, filler)
	}
	return peer{
		id: "openai", module: "github.com/openai/openai-go/v3",
		one:  padded(oneSize, func(filler string) string { return file(0, filler) }),
		page: listed(`{"object":"list","data":[`, file, `],"has_more":false}`),
		missing: `{"error":{"message":"No such File object: file-1","type":"invalid_request_error","param":"id",` +
			`"code":"not_found"}}`,
		sdk: openaiSDK, hand: openaiByHand,
	}
}

func openaiSDK(base string, client *http.Client) calls {
	api := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey(token), option.WithHTTPClient(client),
		option.WithMaxRetries(0))
	get := func(ctx context.Context) (*openai.FileObject, error) { return api.Files.Get(ctx, "file-00000000") }
	return calls{
		get: reads(get),
		page: reads(func(ctx context.Context) (*pagination.CursorPage[openai.FileObject], error) {
			return api.Files.List(ctx, openai.FileListParams{Limit: openai.Int(100)})
		}),
		refused: refuses[*openai.Error](get),
	}
}

type openaiFile struct {
	ID        string `json:"id"`
	Object    string `json:"object"`
	Bytes     int64  `json:"bytes"`
	CreatedAt int64  `json:"created_at"`
	ExpiresAt int64  `json:"expires_at"`
	Filename  string `json:"filename"`
	Purpose   string `json:"purpose"`
	Status    string `json:"status"`
}

type openaiPage struct {
	Data    []openaiFile `json:"data"`
	HasMore bool         `json:"has_more"`
}

func openaiByHand(base string, client *http.Client) calls {
	c := byHand{base, client}
	get := fetch[openaiFile](c, http.MethodGet, "files/file-00000000")
	return calls{
		get:     reads(get),
		page:    reads(fetch[openaiPage](c, http.MethodGet, "files?limit=100")),
		refused: refuses[*refusal](get),
	}
}
