package openapi

// Shape describes JSON that the API reads or writes: a Go type, and what the type does
// not express.
type Shape struct {
	Name  string         // of the schema; empty: the type's
	Value any            // of the type
	Type  string         // value of an event's field "type"
	Needs []string       // fields that a request must have
	Only  []string       // the fields of this kind, if one Go type has those of all kinds; a trailing ? marks optional ones
	Holds map[string]any // content of fields of raw JSON: a value, a list, a Shape, a List or AnyOf
}

// AnyOf lists values of the types that a field may have.
type AnyOf []any

// List is a list of what Of describes: a value, a Shape or AnyOf.
type List struct{ Of any }

// Read marks a value of a response that gets the schema of a request: that for reading.
type Read struct{ Value any }
