package db

import "errors"

// ErrBadCursor is a cursor that this store did not hand out.
var ErrBadCursor = errors.New("the cursor is not valid")
