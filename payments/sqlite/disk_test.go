package sqlite

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

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

// snapshot writes what a loss of power at this moment leaves to a folder. The caller holds the lock.
func (d *disk) snapshot(t *testing.T, random *rand.Rand, folder string) {
	t.Helper()
	for name, file := range d.files {
		if filepath.Ext(name) == ".new" {
			continue
		}
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), file.crash(random), 0o600))
	}
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
