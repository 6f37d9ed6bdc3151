package openapi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3gen"

	"github.com/palaver-chat/palaver/chat"
)

// schemas makes the schemas of the OpenAPI document from the Go types that the API
// reads and writes. A written type has no additional fields, and all fields without
// omitempty or omitzero are required.
type schemas struct {
	made    openapi3.Schemas
	read    *openapi3gen.Generator
	written *openapi3gen.Generator
	unions  []string // types whose shapes have only some of their fields; no schema refers to them
}

func (a API) newSchemas() *schemas {
	generator := func(customize openapi3gen.SchemaCustomizerFn, name openapi3gen.TypeNameGenerator) *openapi3gen.Generator {
		return openapi3gen.NewGenerator(openapi3gen.SchemaCustomizer(customize), openapi3gen.CreateTypeNameGenerator(name),
			openapi3gen.CreateComponentSchemas(openapi3gen.ExportComponentSchemasOptions{
				ExportComponentSchemas: true, ExportTopLevelSchema: true, ExportGenerics: true}))
	}
	return &schemas{made: openapi3.Schemas{}, read: generator(readSchema, a.bodyName), written: generator(writtenSchema, a.schemaName)}
}

// enums lists the values of types with a fixed set of values.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[chat.Action]():        Values(append([]chat.Action{""}, chat.Actions...)...),
	reflect.TypeFor[chat.Confidence]():    Values("", chat.High, chat.Medium, chat.Low),
	reflect.TypeFor[chat.InterruptType](): append(Values(chat.InterruptTypes...), string(chat.CancelResume)),
	reflect.TypeFor[chat.ToolEffect]():    Values(chat.EffectReads, chat.EffectChanges, chat.EffectDestroys),
	reflect.TypeFor[chat.TurnStatus](): Values(chat.TurnNew, chat.TurnAccepted, chat.TurnRunning, chat.TurnInterrupted,
		chat.TurnCompleted, chat.TurnCancelled, chat.TurnFailed),
	reflect.TypeFor[chat.CancelReason](): Values(chat.UserCancelled, chat.Superseded, chat.Disconnected, chat.RolledBack),
	reflect.TypeFor[chat.DocStatus]():    Values(chat.DocProcessing, chat.DocReady, chat.DocFailed),
	reflect.TypeFor[chat.Verdict]():      Values(chat.Approved, chat.Rejected),
}

// Values lists the values that a field may have.
func Values[T ~string](all ...T) []any {
	out := make([]any, len(all))
	for i, v := range all {
		out[i] = string(v)
	}
	return out
}

// readSchema makes every field optional and nullable; null means absent.
func readSchema(name string, t reflect.Type, _ reflect.StructTag, s *openapi3.Schema) error {
	s.Nullable = name != "_root"
	setType(t, s)
	if s.Items != nil {
		s.Items = notNull(s.Items)
	}
	for _, f := range fieldsOf(t) {
		orNull(s, f.name)
	}
	return nil
}

func writtenSchema(_ string, t reflect.Type, _ reflect.StructTag, s *openapi3.Schema) error {
	setType(t, s)
	if t.Kind() != reflect.Struct || s.Properties == nil {
		return nil
	}
	s.AdditionalProperties = openapi3.AdditionalProperties{Has: new(bool)}
	for _, f := range fieldsOf(t) {
		if f.optional {
			continue
		}
		s.Required = append(s.Required, f.name)
		if f.null {
			orNull(s, f.name)
		}
	}
	slices.Sort(s.Required)
	return nil
}

// setType converts a type to the form of OpenAPI 3.1.
func setType(t reflect.Type, s *openapi3.Schema) {
	s.Enum = enums[t]
	if !s.Nullable || s.Type == nil || t.Kind() == reflect.Struct && t.Name() != "" {
		return
	}
	s.Nullable, s.Type = false, &openapi3.Types{(*s.Type)[0], "null"}
	if s.Enum != nil {
		s.Enum = append(slices.Clip(s.Enum), nil)
	}
}

// orNull makes a field nullable whose schema is a reference, a union or a list.
func orNull(s *openapi3.Schema, field string) {
	p := s.Properties[field]
	if p != nil && (strings.HasPrefix(p.Ref, componentSchemas) || p.Value != nil && (p.Value.AnyOf != nil || p.Value.Items != nil && len(*p.Value.Type) == 1)) {
		s.Properties[field] = openapi3.NewSchemaRef("", &openapi3.Schema{AnyOf: openapi3.SchemaRefs{p, nothing}})
	}
}

// notNull undoes orNull and setType's nullable.
func notNull(p *openapi3.SchemaRef) *openapi3.SchemaRef {
	if p.Value == nil || strings.HasPrefix(p.Ref, componentSchemas) {
		return p
	}
	if len(p.Value.AnyOf) == 2 && p.Value.AnyOf[1] == nothing {
		return p.Value.AnyOf[0]
	}
	s := *p.Value
	s.Nullable = false
	if s.Type != nil {
		s.Type = &openapi3.Types{(*s.Type)[0]}
	}
	s.Enum = slices.DeleteFunc(slices.Clone(s.Enum), func(v any) bool { return v == nil })
	return openapi3.NewSchemaRef("", &s)
}

var nothing = openapi3.NewSchemaRef("", &openapi3.Schema{Type: &openapi3.Types{"null"}})

type jsonField struct {
	name           string
	optional, null bool
}

// fieldsOf returns a struct's JSON fields.
func fieldsOf(t reflect.Type) (all []jsonField) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		all = append(all, jsonField{name, strings.Contains(options, "omit"), f.Type.Kind() == reflect.Pointer})
	}
	return all
}

// schemaName returns the name of a type's schema.
func (a API) schemaName(t reflect.Type) string {
	pkg, name := t.PkgPath(), t.Name()
	if name == "" {
		return ""
	}
	if other, ok := a.Renamed[pkg+"."+name]; ok {
		return other
	}
	if _, element, generic := strings.Cut(name, "["); generic {
		return exported(strings.TrimSuffix(element[strings.LastIndexByte(element, '.')+1:], "]")) + "List"
	}
	return a.Prefixes[pkg] + exported(name)
}

// TypeName returns the name of the type of v, or of what it points to, as API.Renamed has it.
func TypeName(v any) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath() + "." + t.Name()
}

// bodyName returns the name of the schema for reading a type. It differs from that for
// writing it.
func (a API) bodyName(t reflect.Type) string {
	name := a.schemaName(t)
	if name == "" || strings.HasSuffix(name, "Body") {
		return name
	}
	return name + "Body"
}

func exported(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return strings.TrimSuffix(string(unicode.ToUpper(first))+name[size:], "JSON")
}

// of returns the schema for writing a value's type.
func (m *schemas) of(v any) *openapi3.SchemaRef { return m.schema(m.written, v) }

// body returns the schema for reading a value's type.
func (m *schemas) body(v any) *openapi3.SchemaRef { return m.schema(m.read, v) }

// schema panics on types that cannot be described: all of them are in this repository.
func (m *schemas) schema(g *openapi3gen.Generator, v any) *openapi3.SchemaRef {
	switch v := v.(type) {
	case nil:
		return nothing
	case Shape:
		return m.shape(g, v)
	case List:
		return openapi3.NewSchemaRef("", &openapi3.Schema{Type: &openapi3.Types{"array"}, Items: m.schema(g, v.Of)})
	case Read:
		return m.body(v.Value)
	case AnyOf:
		s := &openapi3.Schema{}
		for _, one := range v {
			s.AnyOf = append(s.AnyOf, m.schema(g, one))
		}
		return openapi3.NewSchemaRef("", s)
	}
	ref, err := g.NewSchemaRefForValue(v, m.made)
	if err != nil {
		panic(fmt.Sprintf("openapi: %T: %v", v, err))
	}
	return ref
}

// shape returns the schema of a type with the additions of a Shape.
func (m *schemas) shape(g *openapi3gen.Generator, shape Shape) *openapi3.SchemaRef {
	ref := m.schema(g, shape.Value)
	name := strings.TrimPrefix(ref.Ref, componentSchemas)
	s := m.made[name].Value
	if shape.Only != nil {
		m.unions = append(m.unions, name)
		s = part(s, shape.Only)
		name = strings.TrimSuffix(name, "Chunk") + camel(shape.Name)
		m.made[name] = openapi3.NewSchemaRef("", s)
	}
	for _, field := range shape.Needs {
		s.Properties[field] = notNull(s.Properties[field])
		if !slices.Contains(s.Required, field) { // two bodies may be of one type
			s.Required = append(s.Required, field)
		}
	}
	if shape.Type != "" {
		s.Properties["type"] = openapi3.NewSchemaRef("", &openapi3.Schema{Type: &openapi3.Types{"string"}, Const: shape.Type})
	}
	for field, v := range shape.Holds {
		s.Properties[field] = m.schema(g, v)
		if g == m.read && !slices.Contains(shape.Needs, field) {
			orNull(s, field)
		}
	}
	return openapi3.NewSchemaRef(componentSchemas+name, nil)
}

// events adds the schema for the data lines of a dialect's streams.
func (m *schemas) events(name string, shapes []Shape) {
	s := &openapi3.Schema{Description: "The content of a data line of the stream."}
	for _, shape := range shapes {
		s.OneOf = append(s.OneOf, m.shape(m.written, shape))
	}
	m.made[name] = openapi3.NewSchemaRef("", s)
}

const componentSchemas = "#/components/schemas/"

// part returns a schema with some of another's fields.
func part(whole *openapi3.Schema, only []string) *openapi3.Schema {
	s := &openapi3.Schema{Type: whole.Type, Properties: openapi3.Schemas{}, AdditionalProperties: whole.AdditionalProperties}
	for _, f := range only {
		name, optional := strings.CutSuffix(f, "?")
		s.Properties[name] = whole.Properties[name]
		if !optional {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

// camel converts a chunk's type to camel case.
func camel(s string) string {
	out := ""
	for word := range strings.SplitSeq(s, "-") {
		out += exported(word)
	}
	return out
}

// describe adds the descriptions of words to the fields.
func (m *schemas) describe(words map[string]Word) {
	for name, ref := range m.made {
		for field, p := range ref.Value.Properties {
			w, known := words[name+"."+field]
			if !known {
				w = words[field]
			}
			ref.Value.Properties[field] = w.on(p)
		}
	}
}

// Word describes a field beyond its type.
type Word struct {
	About  string
	Format string
	Max    uint64 // characters
	Enum   []any
	Object bool // raw JSON that is always an object
}

func (w Word) on(p *openapi3.SchemaRef) *openapi3.SchemaRef {
	if p.Ref != "" {
		return p
	}
	s := *p.Value
	s.Description = w.About
	if s.Type == nil && s.AnyOf == nil && w.Object {
		s.Type = &openapi3.Types{"object"}
		if s.Nullable { // a schema for reading
			s.Type = &openapi3.Types{"object", "null"}
		}
	}
	s.Nullable = false // OpenAPI 3.1 has no nullable; without a type, null is allowed
	if s.Type != nil && (*s.Type)[0] == "string" && s.Const == nil {
		s.Format = w.Format
		if w.Max > 0 {
			s.MaxLength = &w.Max
		}
		if w.Enum != nil {
			s.Enum = w.Enum
			if slices.Contains(*s.Type, "null") {
				s.Enum = append(slices.Clip(s.Enum), nil)
			}
		}
	}
	return openapi3.NewSchemaRef("", &s)
}
