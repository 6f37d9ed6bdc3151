package dialect

import "github.com/palaver-chat/palaver/api/openapi"

// Nested lists the shapes inside every dialect's answers to questions.
var Nested = []openapi.Shape{
	{Value: ResumeValue{}, Needs: []string{"type"}},
	{Value: Decision{}, Needs: []string{"id", "decision"}},
}
