package sqlite

import (
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

// inspected is what a file has beside it.
type inspected struct {
	log    bool // there is a log, which may be empty
	logged      // the log
}

// inspect checks the header of a file and its log, before SQLite changes anything.
func inspect(path string) (found inspected, err error) {
	file, err := os.Open(path)
	if err != nil {
		return found, fmt.Errorf("sqlite: %w", err)
	}
	// No connection of this process has the file open yet, whose locks this would drop.
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return found, fmt.Errorf("sqlite: %w", err)
	}
	log, err := os.Open(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found, fmt.Errorf("sqlite: %w", err)
	}
	if found.log = err == nil; found.log {
		defer log.Close()
	}
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(file, header); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = &Damaged{Path: path, Problems: []string{fmt.Sprintf("it has %d bytes, which is less than a header",
				info.Size())}}
		}
		return found, err
	}
	pageSize, problem := readHeader(header)
	if problem != "" {
		return found, &Damaged{Path: path, Problems: []string{problem}}
	}
	if found.log {
		if found.logged, problem, err = readLog(log, pageSize); err != nil {
			return found, fmt.Errorf("sqlite: %w", err)
		}
		if problem != "" {
			return found, &Damaged{Path: path, Problems: []string{problem}}
		}
	}
	pages := int64(binary.BigEndian.Uint32(header[atPages:]))
	if len(found.pages) == 0 && info.Size() != pages*int64(pageSize) { // with a log, the file can be behind
		return found, &Damaged{Path: path, Problems: []string{
			fmt.Sprintf("it has %d bytes instead of %d", info.Size(), pages*int64(pageSize)),
		}}
	}
	return found, nil
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
