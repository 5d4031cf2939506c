package sessionfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// sharingViolation is ERROR_SHARING_VIOLATION.
const sharingViolation = syscall.Errno(32)

// openLocked opens a file so that no other process can open it, except to read a file that this process only reads.
func openLocked(path string, flag int) (handle, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	access, share := uint32(syscall.GENERIC_READ), uint32(syscall.FILE_SHARE_READ)
	disposition := uint32(syscall.OPEN_EXISTING)
	if flag&os.O_RDWR != 0 {
		access, share = syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0
	}
	if flag&os.O_CREATE != 0 {
		disposition = syscall.CREATE_NEW
	}
	handle, err := syscall.CreateFile(name, access, share, nil, disposition, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, errInUse
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}
