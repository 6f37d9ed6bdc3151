package activities

// Ref is the turn of an activity's argument. Every argument that embeds a TurnRef has
// this method.
func (r TurnRef) Ref() TurnRef { return r }
