package sandbox

import "github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"

// keepers keep records, and count them one by one.
type keepers []interface{ Records() int }

func (k keepers) records() int {
	kept := 0
	for _, keeper := range k {
		kept += keeper.Records()
	}
	return kept
}

// room refuses what would make a host keep more, once it keeps as much as
// [Settings.MaxRecords] allows.
func (k keepers) room(limit int) error {
	if k.records() >= limit {
		return refuse.Full(limit)
	}
	return nil
}
