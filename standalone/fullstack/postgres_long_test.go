//go:build long

package fullstack

import (
	"testing"

	"github.com/palaver-chat/palaver/standalone/stacktest"
)

// TestLongPostgres runs tests on Postgres that make test runs on SQLite only, because what
// they check is not a matter of the store.
func TestLongPostgres(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, options ...stacktest.Option){
		"DuplicateSendsMakeOneTurnAcrossRestartsAndContinueAsNew": duplicateSendsMakeOneTurn,
		"IDOfADeletedConversationCanBeReusedWhileItsTurnRuns":     idOfADeletedConversationIsReused,
		"KeysAreMadeListedAndRevokedByCommand":                    keysAreManagedByCommand,
		"PartialAnswerSurvivesStopReloadAndRestart":               partialAnswerSurvives,
		"ProcessStopsInTheMiddleOfALargeIngest":                   processStopsInALargeIngest,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, onPostgres(t)...)
		})
	}
}
