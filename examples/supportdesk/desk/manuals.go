package desk

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path"

	"github.com/palaver-chat/palaver"
)

//go:embed manuals
var manuals embed.FS

// manualSource imports the manuals of lamps from links like
// https://manuals.example.com/aurora. A real shop asks its own server instead of a folder.
var manualSource = palaver.ImportSource{
	Type:  "manuals",
	Label: "Shop manuals",
	Links: []string{"manuals.example.com/"},
	Look: func(_ context.Context, _ string, link palaver.ImportLink) (palaver.ImportRemote, error) {
		name := path.Base(link.URL) + ".md"
		text, err := readManual(name)
		if err != nil {
			return palaver.ImportRemote{}, err
		}
		return palaver.ImportRemote{ExternalID: name, Name: name, Size: int64(len(text)), Version: versionOf(text)}, nil
	},
	Fetch: func(_ context.Context, _ string, r palaver.ImportRemote, limit int64) (palaver.ImportContent, error) {
		text, err := readManual(r.ExternalID)
		if err != nil {
			return palaver.ImportContent{}, err
		}
		if size := int64(len(text)); size > limit {
			return palaver.ImportContent{}, &palaver.ImportError{Code: palaver.ImportTooLarge, Size: size, Limit: limit}
		}
		return palaver.ImportContent{Name: r.Name, Version: versionOf(text), Raw: text}, nil
	},
}

func readManual(name string) ([]byte, error) {
	text, err := manuals.ReadFile("manuals/" + name)
	if err != nil {
		return nil, &palaver.ImportError{Code: palaver.ImportNotShared, Cause: err}
	}
	return text, nil
}

func versionOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
