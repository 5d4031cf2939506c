package sqlite

// Option changes how [Open] opens a store.
type Option func(*settings)

// MustExist lets Open fail with an error that wraps fs.ErrNotExist if there is no file, instead of making an empty
// store. Use it after the first start of a program, so that a wrong path or a disk that is not mounted is noticed
// before anything is paid.
func MustExist() Option { return func(s *settings) { s.mustExist = true } }

type settings struct {
	mustExist  bool
	migrations [][]string
	parameters string // of SQLite, for tests
}
