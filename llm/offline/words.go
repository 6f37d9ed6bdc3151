package offline

import "github.com/palaver-chat/palaver/internal/language"

// docNouns are what people call documents.
var docNouns = language.Union(language.DocumentNouns, language.NewSet("one ones it lease terms charter memorandum minutes checklist plan"))
