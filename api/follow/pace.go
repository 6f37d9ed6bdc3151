package follow

import "time"

// quickPolls is how many polls of a new follower keep short intervals: until the
// draft has been saved once more.
const quickPolls = 5

// pace schedules a follower's polls. As long as both ends are connected, the bus
// delivers everything new; polls find the messages that were lost.
type pace struct {
	known           bool          // the first log entries were known when the follower started
	complete        bool          // the subscription was made before the turn began
	nothingReceived bool          // nothing was delivered yet, so earlier messages may be missing
	waiting         bool          // the turn waits for a person
	workerHasNoBus  bool          // a poll found entries that the bus had not delivered
	unreplayable    bool          // the worker cannot replay the thread
	polls           int           // so far
	pause           time.Duration // until the next poll
	since           time.Time     // when the pause began
	idle            bool          // nothing was delivered since the last poll
}

// remaining returns the time until the next poll, capped at a second because the
// bus may disconnect meanwhile. live means that the bus is connected here.
func (p *pace) remaining(live bool) time.Duration {
	if p.since.IsZero() { // first poll
		if !p.known || !live {
			return 0
		}
		p.pause, p.since, p.nothingReceived = pollMin, time.Now(), true
		if p.complete { // the poll only has to detect a worker without a bus
			p.pause = pollMax
		}
	}
	pause := p.pause
	if !live && !p.unreplayable {
		pause = min(pause, pollMax)
	}
	return min(max(0, time.Until(p.since.Add(pause))), pollMax)
}

// received notes that the bus delivered a message.
func (p *pace) received() {
	p.workerHasNoBus, p.idle = false, false
	if !p.since.IsZero() && (p.nothingReceived || p.pause >= idlePollMin) && !p.unreplayable {
		p.pause, p.since, p.nothingReceived = idlePollMin, time.Now(), false
	}
}

// pollSoon shortens the pause before the next poll.
func (p *pace) pollSoon() {
	if !p.unreplayable {
		p.pause, p.since = pollMin, time.Now()
	}
}

// polled sets the next pause from the result of a poll or read. live means that the
// bus is connected here and no text is missing.
func (p *pace) polled(r report, fresh, unreplayable, live bool) {
	p.unreplayable = unreplayable
	if !r.queried {
		if r.err != nil {
			p.pollSoon()
		}
		return
	}
	p.waiting, p.nothingReceived = r.waiting, false
	if p.polls++; p.polls > 1 && fresh && p.idle {
		p.workerHasNoBus = true
	}
	p.idle = true
	switch {
	case unreplayable:
		p.pause = unreplayablePoll
	case !live || p.workerHasNoBus || r.err != nil || r.unknown:
		if fresh {
			p.pause = pollMin
		} else {
			p.pause = min(max(2*p.pause, pollMin), pollMax)
		}
	case p.waiting:
		p.pause = waitingPoll
	case p.polls <= quickPolls: // the text so far may not be in the draft yet
		p.pause = min(max(2*p.pause, pollMin), pollMax)
	case fresh:
		p.pause = idlePollMin
	default:
		p.pause = min(max(2*p.pause, idlePollMin), idlePollMax)
	}
	p.since = time.Now()
}
