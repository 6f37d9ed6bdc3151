package dialect

// Shape is JSON that a dialect reads or writes, as the OpenAPI document is told
// of it: a Go type, and what the type does not say.
type Shape struct {
	Name  string         // of the schema; empty: the type's
	Value any            // of the type
	Type  string         // what the field "type" of an event says
	Needs []string       // fields that a request must have
	Only  []string       // the fields of this kind where one type has all; a ? ends those that may be absent
	Holds map[string]any // what stands in a field of raw JSON: a value, a list, a Shape or AnyOf
}

// AnyOf are values of the types that may stand in a field.
type AnyOf []any

// Nested are the shapes that stand in every dialect's answers to questions.
var Nested = []Shape{
	{Value: ResumeValue{}, Needs: []string{"type"}},
	{Value: Decision{}, Needs: []string{"id", "decision"}},
}
