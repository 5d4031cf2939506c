package sqlite

import (
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/moneymovement/moneymovement-go/payments"
)

// columns are what a row is read from.
const columns = "key, account, state, work, due, change, data, sum"

// scanned reads a row, and compares it with its checksum.
func (s *Store) scanned(scan func(...any) error) (payments.Row, error) {
	var row payments.Row
	var due, change, sum int64
	if err := scan(&row.Key, &row.Account, &row.State, &row.Work, &due, &change, &row.Data, &sum); err != nil {
		return payments.Row{}, err
	}
	if sum != checksum(row) {
		return payments.Row{}, &Damaged{Path: s.path, Problems: []string{
			fmt.Sprintf("the payment with the key %q differs from its checksum", row.Key),
		}}
	}
	row.Due, row.Position = toTime(due), position(change)
	return row, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers what decides about money, and not what only orders the work.
func checksum(row payments.Row) int64 {
	head := fmt.Appendf(nil, "%q%q%q%d:", string(row.Key), string(row.Account), string(row.State), row.Work)
	return int64(crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, row.Data))
}

func position(change int64) payments.Position {
	return payments.Position(strconv.FormatInt(change, 10))
}

// The years that fit into the microseconds of an int64.
var earliest, latest = time.UnixMicro(math.MinInt64), time.UnixMicro(math.MaxInt64 - 1)

// toMicros rounds up, so that nothing is due too soon.
func toMicros(t time.Time) int64 {
	switch {
	case t.Before(earliest):
		return math.MinInt64
	case t.After(latest):
		return math.MaxInt64
	}
	return t.Add(time.Microsecond - 1).UnixMicro()
}

func toTime(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// owned returns a row that shares nothing with the caller's, as it is stored.
func owned(row payments.Row) payments.Row {
	if row.Data = slices.Clone(row.Data); row.Data == nil {
		row.Data = []byte{}
	}
	return row
}
