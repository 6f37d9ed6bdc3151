package sqlite

// number is how a flag is stored.
func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
