package config

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/joho/godotenv"
)

// ExitUsage is the exit code for an invalid setting.
const ExitUsage = 2

// Parse fills cli, a kong grammar that embeds Config (and perhaps Embedded), from .env in
// the working folder, the environment and args; later sources override earlier ones. An
// error is one readable line.
func Parse(cli any, args []string, options ...kong.Option) (*kong.Context, error) {
	if err := loadDotEnv(".env"); err != nil {
		return nil, err
	}
	// An empty variable means its default: compose files pass unset variables as empty ones.
	for _, v := range variables(cli) {
		if value, set := os.LookupEnv(v.env); set && value == "" {
			_ = os.Unsetenv(v.env)
		}
	}
	if err := readFiles(cli); err != nil {
		return nil, err
	}
	parser, err := kong.New(cli, options...)
	if err != nil {
		return nil, err
	}
	return parser.Parse(args)
}

// readFiles sets variables from files, in which container platforms pass secrets: NAME_FILE
// is the path of a file with the value of NAME, and SETTINGS_DIR has folders whose files are
// named like their variables. An empty file sets nothing.
func readFiles(cli any) error {
	folders := filepath.SplitList(os.Getenv("SETTINGS_DIR"))
	for _, folder := range folders {
		if _, err := os.ReadDir(folder); err != nil {
			return refuse("SETTINGS_DIR", "cannot list the folder: %v", err)
		}
	}
	for _, v := range variables(cli) {
		by, path := v.env+"_FILE", os.Getenv(v.env+"_FILE")
		for i := 0; path == "" && i < len(folders); i++ {
			file := filepath.Join(folders[i], v.env)
			if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
				by, path = "SETTINGS_DIR", file
			}
		}
		if path == "" {
			continue
		}
		raw, err := os.ReadFile(path)
		var failed *fs.PathError
		if errors.As(err, &failed) {
			return refuse(by, "cannot read %s: %v", path, failed.Err)
		}
		if err != nil {
			return err
		}
		value := strings.TrimSpace(string(raw))
		switch {
		case value == "":
			continue
		case os.Getenv(v.env) != "": // an empty variable is one that is not set
			return refuse(by, "%s is set, too; use one of them", v.env)
		}
		if err := os.Setenv(v.env, value); err != nil {
			return refuse(by, "%s is not text", path)
		}
	}
	return nil
}

// loadDotEnv adds the file's variables that the environment does not have.
func loadDotEnv(path string) error {
	err := godotenv.Load(path)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.As(err, new(*fs.PathError)):
		return err
	}
	// The parser's error quotes the rest of the file, including secrets.
	return refuse(path, "not readable; every line must be NAME=value or begin with #")
}

// Logger writes at LOG_LEVEL in LOG_FORMAT to w. Durations, including those of libraries,
// are logged in milliseconds with the suffix _ms: took becomes took_ms.
func (c *Config) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // checked by Validate
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: inMilliseconds}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// inMilliseconds converts a duration to milliseconds, with the unit in its name. Without
// it, a JSON log would have a number of nanoseconds without a unit.
func inMilliseconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	return slog.Float64(a.Key+"_ms", float64(a.Value.Duration().Microseconds())/1000)
}

// variable is one setting as its struct tags describe it.
type variable struct {
	env, preset, group, help string
	tag                      reflect.StructTag
	value                    any // pointer to the field
}

// advanced reports whether few installations set the variable. --help lists it in a group
// of its own, .env.example by its name only.
func (v variable) advanced() bool { return strings.HasSuffix(v.group, ", advanced") }

// variables walks a pointer to a struct and its embedded structs.
func variables(of any) []variable {
	v := reflect.ValueOf(of).Elem()
	var all []variable
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Type.Kind() == reflect.Struct && field.Anonymous {
			all = append(all, variables(v.Field(i).Addr().Interface())...)
			continue
		}
		env, ok := field.Tag.Lookup("env")
		if !ok {
			continue
		}
		all = append(all, variable{
			env: env, preset: field.Tag.Get("default"), group: field.Tag.Get("group"), help: field.Tag.Get("help"),
			tag: field.Tag, value: v.Field(i).Addr().Interface(),
		})
	}
	return all
}
