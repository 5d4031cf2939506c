package sqlite

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The pages of the logs below are small, so that the fuzz engine tries many shapes.
const smallPage = 16

// madeLog is a log as SQLite writes it, and where its transactions end.
type madeLog struct {
	bytes []byte
	ends  []int
}

// makeLog makes a log of transactions with so many frames each, and with these bytes in its pages.
func makeLog(order binary.ByteOrder, frames []int, content []byte) madeLog {
	return makeLogOf(order, 0x11223344, smallPage, frames, content)
}

func makeLogOf(order binary.ByteOrder, salt uint32, pageSize int, frames []int, content []byte) madeLog {
	var log madeLog
	put := func(values ...uint32) {
		for _, v := range values {
			log.bytes = binary.BigEndian.AppendUint32(log.bytes, v)
		}
	}
	magic := uint32(logMagic)
	if order == binary.BigEndian {
		magic++
	}
	sum := logSum{order: order}
	put(magic, 3007000, uint32(pageSize), 0, salt, 0x55667788)
	sum.add(log.bytes)
	put(sum.s0, sum.s1)
	page := uint32(0)
	for _, n := range frames {
		for i := range n {
			page++
			size := uint32(0)
			if i == n-1 {
				size = page
			}
			body := make([]byte, pageSize)
			content = content[copy(body, content):]
			at := len(log.bytes)
			put(page, size, salt, 0x55667788)
			sum.add(log.bytes[at : at+8])
			sum.add(body)
			put(sum.s0, sum.s1)
			log.bytes = append(log.bytes, body...)
		}
		log.ends = append(log.ends, len(log.bytes))
	}
	return log
}

// SQLite writes over its old log from the beginning. If the power is lost before a transaction is synced, each of its
// sectors has either the old or the new content. The store is not damaged then, wherever a sector ends inside a frame.
func TestALossOfPowerOverAnOldLog(t *testing.T) {
	const pageSize = 4096
	random := rand.New(rand.NewPCG(1, 1))
	old := makeLogOf(binary.LittleEndian, 1, pageSize, slices.Repeat([]int{1}, 200), []byte("old"))
	log := makeLogOf(binary.LittleEndian, 2, pageSize, slices.Repeat([]int{7}, 20), []byte("new"))
	for n, end := range log.ends[1:] {
		for range 20 {
			begin := log.ends[n]
			left := append(bytes.Clone(log.bytes[:begin]), old.bytes[begin:]...)
			for from := begin; from < end; from += sector - from%sector {
				if random.IntN(2) == 0 {
					copy(left[from:], log.bytes[from:min(end, from+sector-from%sector)])
				}
			}
			found, problem, err := readLog(bytes.NewReader(left), pageSize)
			require.NoError(t, err)
			require.Empty(t, problem, "%d transactions", n+1)
			require.GreaterOrEqual(t, len(found.pages), 7*(n+1))
		}
	}
}

// FuzzLog holds the reader of SQLite's log. A log may end at any byte, because the power was lost. A byte that changed
// before the last two transactions is damage, wherever it is. Other bytes may be anything, as in a file that no log is.
func FuzzLog(f *testing.F) {
	f.Add([]byte{1, 2, 1}, []byte("pages"), uint16(40), byte(1), false)
	f.Add([]byte{3, 1, 1, 1}, []byte{}, uint16(3), byte(1), true)
	f.Add([]byte{1, 1, 1}, []byte{}, uint16(41), byte(0x80), false)
	f.Add([]byte{}, []byte{}, uint16(0), byte(0), true)
	f.Fuzz(func(t *testing.T, shape, content []byte, at uint16, flip byte, bigEndian bool) {
		var order binary.ByteOrder = binary.LittleEndian
		if bigEndian {
			order = binary.BigEndian
		}
		var frames []int
		for _, n := range shape[:min(len(shape), 8)] {
			frames = append(frames, 1+int(n%4))
		}
		log := makeLog(order, frames, content)
		place := int(at) % len(log.bytes)

		_, problem, err := readLog(bytes.NewReader(log.bytes[:place]), smallPage)
		require.NoError(t, err)
		assert.Empty(t, problem, "the power was lost at byte %d", place)

		found, problem, err := readLog(bytes.NewReader(log.bytes), smallPage)
		require.NoError(t, err)
		assert.Empty(t, problem)
		total := 0
		for _, n := range frames {
			total += n
		}
		assert.Len(t, found.pages, total)

		damaged := bytes.Clone(log.bytes)
		damaged[place] ^= flip
		_, problem, err = readLog(bytes.NewReader(damaged), smallPage)
		require.NoError(t, err)
		if flip != 0 && len(log.ends) > 2 && place < log.ends[len(log.ends)-3] {
			assert.NotEmpty(t, problem, "byte %d has changed by %#x", place, flip)
		}

		_, _, err = readLog(bytes.NewReader(append(damaged[:place], content...)), smallPage)
		require.NoError(t, err)
	})
}
