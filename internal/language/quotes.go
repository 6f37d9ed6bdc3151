package language

// Quotation marks by where they stand. The straight ones stand on both sides.
const (
	OpeningDoubleQuotes = "\"“«"
	ClosingDoubleQuotes = "\"”»"
	OpeningQuotes       = OpeningDoubleQuotes + "'‘`"
	ClosingQuotes       = ClosingDoubleQuotes + "'’`"

	allQuotes = "\"“”«»'‘’`"
)
