package fullstack

import (
	"os"
	"testing"

	"github.com/palaver-chat/palaver/internal/dbtest/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) } // stops Postgres if it had to start it
