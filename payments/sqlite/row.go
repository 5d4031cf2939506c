package sqlite

import (
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// columns are what a row is read from.
const columns = "key, account, state, work, due, change, data, sum"

// row is a payment in the file.
type row struct {
	key     moneymovement.Key
	account dapi.ClientID
	state   moneymovement.PaymentState
	work    payments.Work
	due     int64 // in microseconds
	change  int64
	text    []byte // of the record
}

// rowOf returns the row of a record, but for its change.
func rowOf(r *payments.Record) (row, error) {
	text, err := r.Encode()
	return row{key: r.Key, account: r.Account, state: r.State, work: r.Work(), due: toMicros(r.Due), text: text}, err
}

// record returns what is stored in a row.
func (r *row) record() payments.Record {
	record := payments.Decode(r.key, r.text)
	record.Due, record.Position = toTime(r.due), position(r.change)
	return record
}

// scanned reads a row, and compares it with its checksum.
func (s *Store) scanned(scan func(...any) error) (row, error) {
	var r row
	var sum int64
	if err := scan(&r.key, &r.account, &r.state, &r.work, &r.due, &r.change, &r.text, &sum); err != nil {
		return row{}, err
	}
	if sum != r.checksum() {
		return row{}, &Damaged{Path: s.path, Problems: []string{
			fmt.Sprintf("the payment with the key %q differs from its checksum", r.key),
		}}
	}
	return r, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers what decides about money, and not what only orders the work.
func (r *row) checksum() int64 {
	head := fmt.Appendf(nil, "%q%q%q%d:", string(r.key), string(r.account), string(r.state), r.work)
	return int64(crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, r.text))
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
