//go:build long

package desk_test

import (
	"testing"

	"github.com/palaver-chat/palaver/standalone/stacktest"
)

func TestLongQuestionsOfTheDeskStayOpenAcrossRestarts(t *testing.T) {
	reportBrokenLamp(t, func(s *stacktest.Stack) { s.Restart() })
}
