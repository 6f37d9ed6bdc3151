//go:build long

package fullstack

import "testing"

func TestLongSixtyTurnsOfManyStepsWithKilledWorkers(t *testing.T) { turnsWithKills(t, 60) }
