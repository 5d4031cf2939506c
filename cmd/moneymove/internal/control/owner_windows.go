package control

// ownFolder accepts every folder: who may write to it is in no mode there.
func ownFolder(string, string) error { return nil }
