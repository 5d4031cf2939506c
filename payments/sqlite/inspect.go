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

// inspect checks the header of a file and its log, before SQLite changes anything. It reports whether there is a log.
func inspect(path string) (logged bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("sqlite: %w", err)
	}
	// No connection of this process has the file open yet, whose locks this would drop.
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, fmt.Errorf("sqlite: %w", err)
	}
	log, err := os.Open(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("sqlite: %w", err)
	}
	if logged = err == nil; logged {
		defer log.Close()
	}
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(file, header); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = &Damaged{Path: path, Problems: []string{fmt.Sprintf("it has %d bytes, which is less than a header",
				info.Size())}}
		}
		return false, err
	}
	pageSize, problem := readHeader(header)
	if problem != "" {
		return false, &Damaged{Path: path, Problems: []string{problem}}
	}
	length := int64(0)
	if logged {
		if length, problem, err = readLog(log, pageSize); err != nil {
			return false, fmt.Errorf("sqlite: %w", err)
		}
		if problem != "" {
			return false, &Damaged{Path: path, Problems: []string{problem}}
		}
	}
	pages := int64(binary.BigEndian.Uint32(header[atPages:]))
	if length == 0 && info.Size() != pages*int64(pageSize) { // with a log, the file can be behind
		return false, &Damaged{Path: path, Problems: []string{fmt.Sprintf("it has %d bytes instead of %d", info.Size(),
			pages*int64(pageSize))}}
	}
	return logged, nil
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
