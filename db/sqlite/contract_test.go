package sqlite_test

import (
	"testing"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/dbtest"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
)

func TestStoreKeepsTheContract(t *testing.T) {
	dbtest.Run(t, func(t *testing.T) db.Store { return litetest.Store(t) })
}
