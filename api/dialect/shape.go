package dialect

// Shape describes JSON that a dialect reads or writes for the OpenAPI document: a Go type, and what the
// type does not express.
type Shape struct {
	Name  string         // of the schema; empty: the type's
	Value any            // of the type
	Type  string         // value of an event's field "type"
	Needs []string       // fields that a request must have
	Only  []string       // the fields of this kind, if one Go type has those of all kinds; a trailing ? marks optional ones
	Holds map[string]any // content of fields of raw JSON: a value, a list, a Shape or AnyOf
}

// AnyOf lists values of the types that a field may have.
type AnyOf []any

// Nested lists the shapes inside every dialect's answers to questions.
var Nested = []Shape{
	{Value: ResumeValue{}, Needs: []string{"type"}},
	{Value: Decision{}, Needs: []string{"id", "decision"}},
}
