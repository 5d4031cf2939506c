package sqlite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
)

// books are what a store has confirmed: for each key, the number of its last save.
type books struct {
	mu        sync.Mutex
	confirmed map[moneymovement.Key]int
}

func (b *books) confirm(key moneymovement.Key, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.confirmed[key] = n
}

func (b *books) copied() map[moneymovement.Key]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.confirmed)
}

// record is a payment, which says how often it was saved.
func record(key moneymovement.Key, n int, state moneymovement.PaymentState) payments.Record {
	r, err := payments.Prepare(payments.Payment{
		Key: key, Account: dapi.ClientID("cl_" + key[:2]),
		Payout:   dapi.PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(5), Currency: dapi.USDC},
		Metadata: map[string]string{"n": strconv.Itoa(n), "filling": strings.Repeat("x", n*197)},
	}, time.Unix(1_800_000_000, 0))
	if err != nil {
		panic(err)
	}
	r.State, r.Due = state, time.Unix(1e9, 0).UTC()
	if state.Final() {
		r.Due = time.Time{}
	}
	return r
}

func due(key moneymovement.Key, n int) payments.Record {
	return record(key, n, moneymovement.PaymentAccepted)
}

// work stores payments from several goroutines, and enters what was confirmed.
func work(t *testing.T, s *Store, b *books, workers, each int) {
	t.Helper()
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := range each {
				if err := pay(t, s, b, moneymovement.Key(fmt.Sprintf("w%d-%d", worker, i))); err != nil {
					t.Errorf("worker %d: %v", worker, err)
					return
				}
			}
		})
	}
	group.Wait()
}

// pay takes a payment through its states.
func pay(t *testing.T, s *Store, b *books, key moneymovement.Key) error {
	if _, _, err := s.Insert(t.Context(), due(key, 0)); err != nil {
		return err
	}
	b.confirm(key, 0)
	claimed, _, err := s.Claim(t.Context(), payments.Claim{Owner: "w", Key: key, Now: time.Now(), For: time.Hour})
	if err != nil {
		return err
	}
	for n, state := range []moneymovement.PaymentState{moneymovement.PaymentPaying, moneymovement.PaymentPaid,
		moneymovement.PaymentCompleted} {
		claimed[0].Record = record(key, n+1, state)
		if _, err := s.Save(t.Context(), claimed[0], state == moneymovement.PaymentCompleted); err != nil {
			return err
		}
		b.confirm(key, n+1)
	}
	return nil
}

// lost opens what a crash has left, and returns what was confirmed and is not there.
func lost(t *testing.T, path string, confirmed map[moneymovement.Key]int) (missing []string) {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		return []string{err.Error()}
	}
	defer func() { require.NoError(t, s.Close()) }()
	checked, err := s.Check(t.Context())
	require.NoError(t, err)
	records, err := s.List(t.Context(), payments.List{Limit: checked.Payments + 1})
	require.NoError(t, err)
	found := map[moneymovement.Key]int{}
	for _, stored := range records {
		require.NoError(t, stored.Err())
		n, err := strconv.Atoi(stored.Metadata["n"])
		require.NoError(t, err)
		want := record(stored.Key, n, stored.State)
		want.Position = stored.Position
		assert.Equal(t, want, stored)
		found[stored.Key] = n
	}
	for key, n := range confirmed {
		stored, there := found[key]
		if !there || stored < n {
			missing = append(missing, fmt.Sprintf("%s was confirmed with save %d, and is there: %t, with save %d",
				key, n, there, stored))
		}
	}
	return missing
}

// A store loses power at any moment, between any two operations of its disk, and the disk keeps what it likes of what
// was not synced. All that was confirmed is there.
func TestLossOfPower(t *testing.T) {
	testkit.Long(t, "cuts the power of a disk, again and again")
	for left, seed := testkit.Size(50, 2000), uint64(1); left > 0 && !t.Failed(); seed++ {
		images, missing := losePower(t, min(left, 25), seed, "")
		require.NotZero(t, images)
		assert.Empty(t, missing, "seed %d", seed)
		left -= images
	}
}

// The same test finds a store that does not wait for the disk.
func TestLossOfPowerWithoutSync(t *testing.T) {
	testkit.Long(t, "cuts the power of a disk, again and again")
	_, missing := losePower(t, 40, 1, "_synchronous=NORMAL&")
	assert.NotEmpty(t, missing)
}

// movesLogAfter makes SQLite move its log into the file after so many pages.
func movesLogAfter(pages int) Option {
	return func(s *settings) { s.parameters += "_pragma=wal_autocheckpoint(" + strconv.Itoa(pages) + ")&" }
}

// losePower works with a store, takes images of its disk at random moments, and returns how many, and what is missing
// in them.
func losePower(t *testing.T, most int, seed uint64, parameters string) (images int, missing []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	folder := t.TempDir()
	d := newDisk(t, folder)
	b := &books{confirmed: map[moneymovement.Key]int{}}
	type image struct {
		files     map[string][]byte
		confirmed map[moneymovement.Key]int
	}
	var taken []image
	s, err := Open(t.Context(), filepath.Join(folder, "p.db"), onDisk, movesLogAfter(20+random.IntN(200)),
		func(s *settings) { s.parameters += parameters })
	require.NoError(t, err)
	d.mu.Lock()
	d.watch = func() {
		if random.IntN(25) != 0 || len(taken) >= most {
			return
		}
		taken = append(taken, image{d.crash(random), b.copied()})
	}
	d.mu.Unlock()
	work(t, s, b, 8, 20)
	require.NoError(t, s.Close())
	for _, crashed := range taken {
		folder := folderWith(t, crashed.files)
		missing = append(missing, lost(t, filepath.Join(folder, "p.db"), crashed.confirmed)...)
		require.NoError(t, os.RemoveAll(folder))
	}
	return len(taken), missing
}

// disk is a disk of SQLite's files that loses power and fails. It stands between SQLite and the files of a folder, and
// remembers what was synced and what was only written.
type disk struct {
	mu    sync.Mutex
	files map[string]*diskFile // by name
	// fail returns the code with which an operation fails, 0 if it does not: "write", "sync" or "truncate" of a file.
	fail     func(operation, name string) int32
	failures int // that fail counted
	// watch is called after each operation.
	watch func()
}

type diskFile struct {
	durable []byte
	pending []diskWrite // since the last sync, in their order
}

type diskWrite struct {
	offset   int64
	data     []byte
	truncate bool // to offset
}

const sector = 512 // is written whole or not at all

// crash returns what a file has after a loss of power: what was synced, and of each sector written since then the old
// content or the new one, at random.
func (f *diskFile) crash(random *rand.Rand) []byte {
	content := slices.Clone(f.durable)
	keep := random.IntN(3) // nothing, everything, or some
	for _, write := range f.pending {
		if write.truncate {
			if keep == 1 || keep == 2 && random.IntN(2) == 0 {
				content = write.apply(content)
			}
			continue
		}
		for from := 0; from < len(write.data); {
			to := min(len(write.data), from+sector-int(write.offset+int64(from))%sector)
			if keep == 1 || keep == 2 && random.IntN(2) == 0 {
				content = diskWrite{offset: write.offset + int64(from), data: write.data[from:to]}.apply(content)
			}
			from = to
		}
	}
	return content
}

func (w diskWrite) apply(content []byte) []byte {
	if w.truncate {
		return content[:min(int64(len(content)), w.offset)]
	}
	if missing := w.offset + int64(len(w.data)) - int64(len(content)); missing > 0 {
		content = append(content, make([]byte, missing)...)
	}
	copy(content[w.offset:], w.data)
	return content
}

func (d *disk) written(name string, write diskWrite) {
	d.files[name].pending = append(d.files[name].pending, write)
}

func (f *diskFile) sync() {
	for _, write := range f.pending {
		f.durable = write.apply(f.durable)
	}
	f.pending = nil
}

// crash returns what a loss of power at this moment leaves of each file. The caller holds the lock. It runs in SQLite's
// goroutines, so it writes no file and cannot fail.
func (d *disk) crash(random *rand.Rand) map[string][]byte {
	left := map[string][]byte{}
	for name, file := range d.files {
		if filepath.Ext(name) != ".new" {
			left[name] = file.crash(random)
		}
	}
	return left
}

// folderWith returns a new folder with these files.
func folderWith(t *testing.T, files map[string][]byte) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	return folder
}

// The disk is between SQLite and its files by a virtual file system, as SQLite calls it, that changes some functions of
// the system's.
type between struct {
	mu    sync.Mutex
	disks map[string]*disk      // by folder
	files map[uintptr]*openFile // by SQLite's file
	ours  map[uintptr]uintptr   // the functions with ours among them, by those of the system
	vfs   *lib.Tsqlite3_vfs     // of the system
}

type openFile struct {
	disk    *disk
	name    string
	methods *lib.Tsqlite3_io_methods // of the system
}

const faultyVFS = "faulty"

// bridge is the one of this process: SQLite has one list of virtual file systems.
var bridge = &between{disks: map[string]*disk{}, files: map[uintptr]*openFile{}, ours: map[uintptr]uintptr{}}

var register = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	bridge.vfs = at[lib.Tsqlite3_vfs](lib.Xsqlite3_vfs_find(tls, 0))
	name, err := libc.CString(faultyVFS)
	if err != nil {
		panic(err)
	}
	address := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(*bridge.vfs)))
	ours := at[lib.Tsqlite3_vfs](address)
	*ours = *bridge.vfs
	ours.FzName = name
	ours.FxOpen, ours.FxDelete = function(diskOpen), function(diskDelete)
	if code := lib.Xsqlite3_vfs_register(tls, address, 0); code != lib.SQLITE_OK {
		panic(code)
	}
})

// newDisk returns the disk of a folder, for stores that are opened with onDisk.
func newDisk(t *testing.T, folder string) *disk {
	t.Helper()
	folder, err := filepath.EvalSymlinks(folder)
	require.NoError(t, err)
	d := &disk{files: map[string]*diskFile{}}
	register()
	b := bridge
	b.mu.Lock()
	defer b.mu.Unlock()
	b.disks[folder] = d
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.disks, folder)
	})
	return d
}

func onDisk(s *settings) { s.parameters += "vfs=" + faultyVFS + "&" }

// at returns what is at an address of SQLite's memory, which is not Go's.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// function returns a function as SQLite calls it, and call one of SQLite as Go calls it.
func function[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f F }{f})) }

func call[F any](address uintptr) F {
	return *(*F)(unsafe.Pointer(&struct{ address uintptr }{address}))
}

func (b *between) file(address uintptr) *openFile {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.files[address]
}

func (b *between) disk(name uintptr) (d *disk, base string) {
	if name == 0 {
		return nil, ""
	}
	path := libc.GoString(name)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.disks[filepath.Dir(path)], filepath.Base(path)
}

type (
	openFunc     = func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
	deleteFunc   = func(*libc.TLS, uintptr, uintptr, int32) int32
	closeFunc    = func(*libc.TLS, uintptr) int32
	writeFunc    = func(*libc.TLS, uintptr, uintptr, int32, int64) int32
	truncateFunc = func(*libc.TLS, uintptr, int64) int32
	syncFunc     = func(*libc.TLS, uintptr, int32) int32
)

func diskOpen(tls *libc.TLS, _, name, file uintptr, flags int32, outFlags uintptr) int32 {
	b := bridge
	d, base := b.disk(name)
	if d != nil {
		d.mu.Lock()
		if d.files[base] == nil {
			content, err := os.ReadFile(libc.GoString(name))
			if err != nil {
				content = nil
			}
			d.files[base] = &diskFile{durable: content}
		}
		d.mu.Unlock()
	}
	system := *(*uintptr)(unsafe.Pointer(&b.vfs))
	code := call[openFunc](b.vfs.FxOpen)(tls, system, name, file, flags, outFlags)
	opened := at[lib.Tsqlite3_file](file)
	if code != lib.SQLITE_OK || d == nil || opened.FpMethods == 0 {
		return code
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	theirs := at[lib.Tsqlite3_io_methods](opened.FpMethods)
	b.files[file] = &openFile{d, base, theirs}
	if b.ours[opened.FpMethods] == 0 {
		address := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(*theirs)))
		ours := at[lib.Tsqlite3_io_methods](address)
		*ours = *theirs
		ours.FxClose, ours.FxWrite = function(diskClose), function(diskWriteTo)
		ours.FxTruncate, ours.FxSync = function(diskTruncate), function(diskSync)
		b.ours[opened.FpMethods] = address
	}
	opened.FpMethods = b.ours[opened.FpMethods]
	return code
}

func diskDelete(tls *libc.TLS, _, name uintptr, syncFolder int32) int32 {
	b := bridge
	if d, base := b.disk(name); d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.files, base)
	}
	system := *(*uintptr)(unsafe.Pointer(&b.vfs))
	return call[deleteFunc](b.vfs.FxDelete)(tls, system, name, syncFolder)
}

func diskClose(tls *libc.TLS, file uintptr) int32 {
	b := bridge
	f := b.file(file)
	b.mu.Lock()
	delete(b.files, file)
	b.mu.Unlock()
	return call[closeFunc](f.methods.FxClose)(tls, file)
}

// operate makes an operation of a file, unless it fails.
func (f *openFile) operate(operation string, system func() int32, done func()) int32 {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		if code := d.fail(operation, f.name); code != 0 {
			return code
		}
	}
	if code := system(); code != lib.SQLITE_OK {
		return code
	}
	done()
	if d.watch != nil {
		d.watch()
	}
	return lib.SQLITE_OK
}

func diskWriteTo(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	f := bridge.file(file)
	return f.operate("write", func() int32 {
		return call[writeFunc](f.methods.FxWrite)(tls, file, data, n, offset)
	}, func() {
		f.disk.written(f.name, diskWrite{offset: offset, data: slices.Clone(unsafe.Slice(at[byte](data), n))})
	})
}

func diskTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	f := bridge.file(file)
	return f.operate("truncate", func() int32 {
		return call[truncateFunc](f.methods.FxTruncate)(tls, file, size)
	}, func() { f.disk.written(f.name, diskWrite{offset: size, truncate: true}) })
}

func diskSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	f := bridge.file(file)
	return f.operate("sync", func() int32 {
		return call[syncFunc](f.methods.FxSync)(tls, file, flags)
	}, func() { f.disk.files[f.name].sync() })
}

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
func TestLossOfPowerOverOldLog(t *testing.T) {
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
