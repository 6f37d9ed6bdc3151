package sqlite

// number is a flag as it is stored.
func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
