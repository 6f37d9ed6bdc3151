package config

import (
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/db"
)

// quotaUnits are the units of storage.
var quotaUnits = map[string]int64{"MB": 1 << 20, "GB": 1 << 30}

// defaultQuota returns the default tag of a setting, for the numbers that a value leaves
// out.
func defaultQuota(name string) string {
	for _, v := range variables(&Config{}) {
		if v.env == name {
			return v.preset
		}
	}
	return ""
}

// parseQuota reads NAME=N,… or off. A number that is left out keeps its default; 0 is no
// limit.
func parseQuota(name, value string) (q db.Quota, err error) {
	if value == "off" {
		return db.Quota{}, nil
	}
	for _, list := range []string{defaultQuota(name), value} {
		for item := range strings.SplitSeq(list, ",") {
			if item = strings.TrimSpace(item); item == "" {
				continue
			}
			if err := setQuota(&q, name, item); err != nil {
				return db.Quota{}, err
			}
		}
	}
	return q, nil
}

func setQuota(q *db.Quota, name, item string) error {
	kind, text, _ := strings.Cut(item, "=")
	to := map[string]*int64{"conversations": &q.Threads, "documents": &q.Documents, "sets": &q.Sets, "pictures": &q.Pictures, "discoveries": &q.Boards, "storage": &q.Bytes}[strings.TrimSpace(kind)]
	text, unit := strings.TrimSpace(text), int64(1)
	if to == &q.Bytes && text != "0" {
		unit = 0
		for suffix, bytes := range quotaUnits {
			if number, has := strings.CutSuffix(text, suffix); has {
				text, unit = number, bytes
			}
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if to == nil || err != nil || unit == 0 || n < 0 || n > 1_000_000_000 {
		return refuse(name, "%q is not allowed; use off, or some of conversations=N, documents=N, sets=N, pictures=N, discoveries=N and storage=N with MB or GB, separated by commas", item)
	}
	*to = n * unit
	return nil
}

// Quotas returns QUOTA_PER_CALLER, QUOTA_PER_ADDRESS and QUOTA_ANONYMOUS; call it after
// Validate.
func (c *Config) Quotas() (caller, address, anonymous db.Quota) {
	caller, _ = parseQuota("QUOTA_PER_CALLER", c.CallerQuota)
	address, _ = parseQuota("QUOTA_PER_ADDRESS", c.AddressQuota)
	anonymous, _ = parseQuota("QUOTA_ANONYMOUS", c.AnonymousQuota)
	return caller, address, anonymous
}

// uploadShare divides INGEST_MEMORY_MB: API processes use one fourth to receive uploads,
// workers use the rest to process them.
const uploadShare = 4

// IngestMemory returns the bytes for receiving uploads and for processing them.
func (c *Config) IngestMemory() (uploads, ingests int64) {
	all := int64(c.IngestMemoryMB) << 20
	return all / uploadShare, all - all/uploadShare
}

func (c *Config) checkQuotas() error {
	for name, value := range map[string]string{"QUOTA_PER_CALLER": c.CallerQuota, "QUOTA_PER_ADDRESS": c.AddressQuota, "QUOTA_ANONYMOUS": c.AnonymousQuota} {
		if _, err := parseQuota(name, value); err != nil {
			return err
		}
	}
	if c.IngestMemoryMB != 0 && (c.IngestMemoryMB < 64 || c.IngestMemoryMB > 1_000_000) {
		return refuse("INGEST_MEMORY_MB", "%d is not allowed; use a number from 64, or 0 for no limit", c.IngestMemoryMB)
	}
	return nil
}
