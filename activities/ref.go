package activities

// Ref is the turn that an activity's argument names; every argument that embeds
// a TurnRef has it.
func (r TurnRef) Ref() TurnRef { return r }
