package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// figures are the measurements by system and figure, one value per round.
type figures map[string]map[string][]float64

func (f figures) add(system, figure string, value float64) {
	if f[system] == nil {
		f[system] = map[string][]float64{}
	}
	f[system][figure] = append(f[system][figure], value)
}

// median returns the median of the rounds; false when the figure was not measured.
func (f figures) median(system, figure string) (float64, bool) {
	values := slices.Sorted(slices.Values(f[system][figure]))
	if len(values) == 0 {
		return 0, false
	}
	if n := len(values); n%2 == 0 {
		return (values[n/2-1] + values[n/2]) / 2, true
	}
	return values[len(values)/2], true
}

// rounds returns the number of rounds.
func (f figures) rounds() int {
	most := 0
	for _, figures := range f {
		for _, l := range roundLoads {
			most = max(most, len(figures[l.name+" cpu"]))
		}
	}
	return most
}

// load adds the figures of a file. A missing file and "" have none.
func (f figures) load(file string) error {
	if file == "" {
		return nil
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		return fmt.Errorf("read the figures of %s: %w", file, err)
	}
	return nil
}

func (f figures) save(file string) error {
	if file == "" {
		return nil
	}
	b, err := json.MarshalIndent(f, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}
