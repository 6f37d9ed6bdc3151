package storm

import "github.com/palaver-chat/palaver/testkit/relay"

// network has the links to one server: one per worker, and one for all other
// processes.
type network struct {
	shared  *relay.Link
	workers []*relay.Link
}

func openNetwork(target string, workers int) (*network, error) {
	n := &network{}
	for i := range workers + 1 {
		link, err := relay.New(target)
		if err != nil {
			n.close()
			return nil, err
		}
		if i == 0 {
			n.shared = link
		} else {
			n.workers = append(n.workers, link)
		}
	}
	return n, nil
}

// of is the link of the worker with that number; -1: of all other processes.
func (n *network) of(worker int) *relay.Link {
	if worker < 0 {
		return n.shared
	}
	return n.workers[worker]
}

// each calls do with every link; a nil network has none.
func (n *network) each(do func(*relay.Link)) {
	if n == nil {
		return
	}
	if n.shared != nil {
		do(n.shared)
	}
	for _, l := range n.workers {
		do(l)
	}
}

func (n *network) to(target string) {
	n.each(func(l *relay.Link) { l.To(target) })
}

func (n *network) close() { n.each((*relay.Link).Close) }
