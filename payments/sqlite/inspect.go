package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// The header of a file of SQLite: see https://www.sqlite.org/fileformat.html.
const (
	headerSize = 100
	magic      = "SQLite format 3\x00"
	atPageSize = 16
	atFormat   = 18 // 2 for files with a log
	atPages    = 28
	atVersion  = 60
	atID       = 68
)

// inspection is what a file has beside it.
type inspection struct {
	log         bool // there is a log, which may be empty
	logContents      // the log
}

// inspect checks the header of a file and its log, before SQLite changes anything.
func inspect(path string) (inspection inspection, err error) {
	file, err := os.Open(path)
	if err != nil {
		return inspection, fmt.Errorf("sqlite: %w", err)
	}
	// No connection of this process has the file open yet, whose locks this would drop.
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return inspection, fmt.Errorf("sqlite: %w", err)
	}
	log, err := os.Open(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return inspection, fmt.Errorf("sqlite: %w", err)
	}
	if inspection.log = err == nil; inspection.log {
		defer log.Close()
	}
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(file, header); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = &Damaged{Path: path, Problems: []string{fmt.Sprintf("it has %d bytes, which is less than a header",
				info.Size())}}
		}
		return inspection, err
	}
	pageSize, problem := readHeader(header)
	if problem != "" {
		return inspection, &Damaged{Path: path, Problems: []string{problem}}
	}
	if inspection.log {
		if inspection.logContents, problem, err = readLog(log, pageSize); err != nil {
			return inspection, fmt.Errorf("sqlite: %w", err)
		}
		if problem != "" {
			return inspection, &Damaged{Path: path, Problems: []string{problem}}
		}
	}
	pages := int64(binary.BigEndian.Uint32(header[atPages:]))
	if len(inspection.pages) == 0 && info.Size() != pages*int64(pageSize) { // with a log, the file can be behind
		return inspection, &Damaged{Path: path, Problems: []string{
			fmt.Sprintf("it has %d bytes instead of %d", info.Size(), pages*int64(pageSize)),
		}}
	}
	return inspection, nil
}

// readHeader returns the size of the pages, or what is wrong.
func readHeader(header []byte) (pageSize int, problem string) {
	if string(header[:len(magic)]) != magic {
		return 0, "it is not a file of SQLite"
	}
	if id := binary.BigEndian.Uint32(header[atID:]); id != applicationID {
		return 0, "it is a database of another program"
	}
	pageSize = int(binary.BigEndian.Uint16(header[atPageSize:]))
	if pageSize == 1 {
		pageSize = 1 << 16
	}
	switch {
	case pageSize < 512 || pageSize&(pageSize-1) != 0:
		return 0, fmt.Sprintf("its header says that a page has %d bytes", pageSize)
	case header[atFormat] != 2 || header[atFormat+1] != 2:
		return 0, "its header says that it has no log"
	case binary.BigEndian.Uint32(header[atVersion:]) == 0:
		return 0, "its header says that it has no tables"
	}
	return pageSize, ""
}

// The log of SQLite: see https://www.sqlite.org/fileformat.html#the_write_ahead_log. SQLite reads it up to the first
// frame that is not valid, and drops the rest without a word. That is right for a transaction that was being written
// when the power was lost, and wrong for damage. The two differ: each transaction is synced before the next one is
// written. So if a transaction follows on the one with the invalid frame, that one was on the disk, and is damaged.
const (
	logHeader   = 32
	frameHeader = 24
	logMagic    = 0x377f0682 // or one more: then the checksums are big-endian
)

// logContents is what a log has.
type logContents struct {
	pages   map[uint32]bool
	version int // of the schema after its last transaction, 0 if the log does not say
}

// readLog returns what a log has, and what is wrong with it.
func readLog(file io.Reader, pageSize int) (contents logContents, problem string, err error) {
	log := bufio.NewReaderSize(file, 1<<20)
	header := make([]byte, logHeader)
	if _, err := io.ReadFull(log, header); err != nil {
		return contents, "", ignoreEOF(err) // a log that was just begun
	}
	magic := binary.BigEndian.Uint32(header)
	sum := logSum{order: binary.LittleEndian}
	if magic&1 == 1 {
		sum.order = binary.BigEndian
	}
	sum.add(header[:24])
	valid := magic&^1 == logMagic && sum.equals(header[24:]) && int(binary.BigEndian.Uint32(header[8:])) == pageSize
	frames := frameReader{log: log, salts: string(header[16:24]), frame: make([]byte, frameHeader+pageSize), sum: sum,
		contents: logContents{pages: map[uint32]bool{}}}
	if !valid {
		frames.salts = "" // of the first frame
		frames.broken = true
	}
	for frames.next() {
		continue
	}
	if frames.err != nil {
		return contents, "", frames.err
	}
	switch {
	case !valid && frames.frames > 0 && frames.chained:
		return contents, "the header of its log is damaged", nil
	case frames.damaged:
		return contents, fmt.Sprintf("its log is damaged at frame %d, and later frames are there", frames.bad), nil
	}
	return frames.contents, "", nil
}

// frameReader reads each frame of a log.
type frameReader struct {
	log    io.Reader
	salts  string // of the frames that count
	frame  []byte
	sum    logSum
	frames int

	contents logContents // in valid frames
	version  int         // on the first page of the last valid frame that has it

	broken    bool // an invalid frame was found
	bad       int  // the first one
	committed bool // a transaction has ended with it or after it
	damaged   bool // and another one follows
	chained   bool // a frame continues the checksum of the one before it
	err       error
}

func (r *frameReader) next() bool {
	if _, err := io.ReadFull(r.log, r.frame); err != nil {
		r.err = ignoreEOF(err)
		return false
	}
	r.frames++
	salts := string(r.frame[8:16])
	if r.salts == "" {
		r.salts = salts
	}
	before := r.sum
	r.sum.add(r.frame[:8])
	r.sum.add(r.frame[frameHeader:])
	valid := salts == r.salts && r.sum.equals(r.frame[16:frameHeader])
	if r.frames > 1 && valid {
		r.chained = true
	}
	if !valid {
		if !r.broken {
			r.broken, r.bad = true, r.frames
		}
		r.sum = before.stored(r.frame[16:frameHeader]) // with which the next frame goes on
	}
	if !r.broken {
		r.noteFrame()
	}
	if r.broken && salts == r.salts {
		r.damaged = r.damaged || r.committed
		r.committed = r.committed || binary.BigEndian.Uint32(r.frame[4:]) != 0 && (valid || r.saltsInOneSector())
	}
	return true
}

// saltsInOneSector reports whether the first bytes of a frame and its salts are in the same sector of the disk. Then
// both are from the same generation of the log. After a loss of power, sectors of one frame can be from different
// generations.
func (r *frameReader) saltsInOneSector() bool {
	const sector, salts = 512, 8
	at := logHeader + (r.frames-1)*len(r.frame)
	return at/sector == (at+salts)/sector
}

// noteFrame notes what a valid frame has. The last frame of a transaction has the size of the file.
func (r *frameReader) noteFrame() {
	page, content := binary.BigEndian.Uint32(r.frame), r.frame[frameHeader:]
	r.contents.pages[page] = true
	if page == 1 && len(content) >= headerSize {
		r.version = int(binary.BigEndian.Uint32(content[atVersion:]))
	}
	if binary.BigEndian.Uint32(r.frame[4:]) != 0 {
		r.contents.version = r.version
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// logSum is the checksum of a log.
type logSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (s *logSum) add(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		s.s0 += s.order.Uint32(data) + s.s1
		s.s1 += s.order.Uint32(data[4:]) + s.s0
	}
}

func (s *logSum) equals(stored []byte) bool {
	return s.s0 == binary.BigEndian.Uint32(stored) && s.s1 == binary.BigEndian.Uint32(stored[4:])
}

func (s *logSum) stored(sum []byte) logSum {
	return logSum{s.order, binary.BigEndian.Uint32(sum), binary.BigEndian.Uint32(sum[4:])}
}
