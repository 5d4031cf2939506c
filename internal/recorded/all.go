package recorded

import (
	"io/fs"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// All returns every recording by the name of its example, with the times of a recording that starts at start. Requests
// keep [Any].
func All(start time.Time) (map[string]Recording, error) {
	all := map[string]Recording{}
	err := fs.WalkDir(files, "testdata", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == IndexName {
			return err
		}
		example := strings.TrimSuffix(strings.TrimPrefix(name, "testdata/"), ".json")
		recording, err := load(example)
		for i := range recording {
			for _, body := range []*codec.Value{&recording[i].Body, &recording[i].Answer.Body} {
				if err == nil && *body != nil {
					*body, err = rendered(*body, start)
				}
			}
		}
		all[example] = recording
		return err
	})
	return all, err
}
