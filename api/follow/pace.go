package follow

import "time"

// firstPolls is how often a turn is asked for soon by who comes late: until its
// draft has been saved once more.
const firstPolls = 5

// pace says when a turn is asked for though nothing says that there is news. The
// bus delivers what is new, as long as it is connected at both ends; what is lost
// all the same is found after some seconds.
type pace struct {
	known   bool          // something was known of the turn from the beginning
	unheard bool          // nothing was delivered yet: what came before the subscription is missing
	waiting bool          // a person is asked
	deaf    bool          // what asking found had not been delivered: the other end has no bus
	stuck   bool          // its worker cannot replay the thread
	polls   int           // so far
	pause   time.Duration // until the next poll
	since   time.Time     // when the pause began
	quiet   bool          // nothing was delivered since the last poll
}

// left is how much of the pause is left, a second at most: the bus may be lost
// meanwhile. live: the bus is connected here.
func (p *pace) left(live bool) time.Duration {
	if p.since.IsZero() { // nothing was asked yet
		if !p.known || !live {
			return 0
		}
		p.pause, p.since, p.unheard = pollFirst, time.Now(), true
	}
	pause := p.pause
	if !live && !p.stuck {
		pause = min(pause, pollLast)
	}
	return min(max(0, time.Until(p.since.Add(pause))), pollLast)
}

// heard notes that the bus delivers.
func (p *pace) heard() {
	p.deaf, p.quiet = false, false
	if !p.since.IsZero() && (p.unheard || p.pause >= quietFirst) && !p.stuck {
		p.pause, p.since, p.unheard = quietFirst, time.Now(), false
	}
}

// hurry has the next poll come soon.
func (p *pace) hurry() {
	if !p.stuck {
		p.pause, p.since = pollFirst, time.Now()
	}
}

// looked sets the next pause by what a look has found. live: the bus is connected
// here, and nothing that it delivered is missing.
func (p *pace) looked(r report, fresh, stuck, live bool) {
	p.stuck = stuck
	if !r.asked {
		if r.err != nil {
			p.hurry()
		}
		return
	}
	p.waiting, p.unheard = r.waiting, false
	if p.polls++; p.polls > 1 && fresh && p.quiet {
		p.deaf = true
	}
	p.quiet = true
	switch {
	case stuck:
		p.pause = pollUnplayable
	case !live || p.deaf || r.err != nil || r.unknown:
		if fresh {
			p.pause = pollFirst
		} else {
			p.pause = min(max(2*p.pause, pollFirst), pollLast)
		}
	case p.waiting:
		p.pause = quietWaiting
	case p.polls <= firstPolls: // the text so far may be on its way into the draft
		p.pause = min(max(2*p.pause, pollFirst), pollLast)
	case fresh:
		p.pause = quietFirst
	default:
		p.pause = min(max(2*p.pause, quietFirst), quietLast)
	}
	p.since = time.Now()
}
