package config

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// shortestSecret is the least number of characters of a secret whose tag names no other.
const shortestSecret = 16

// checkTags checks each setting of a struct against its tags (Config).
func checkTags(settings any) error {
	for _, v := range variables(settings) {
		if err := v.check(); err != nil {
			return err
		}
	}
	return nil
}

func (v variable) check() error {
	limits, limited := v.tag.Lookup("range")
	least, most, _ := strings.Cut(limits, "..")
	switch value := v.value.(type) {
	case *string:
		return v.checkText(*value)
	case *time.Duration:
		if limited && (*value < duration(least) || *value > duration(most)) {
			return refuse(v.env, "%s is not allowed; use a duration from %s to %s, such as 30s or 10m", *value, least, most)
		}
	case *int:
		return v.checkNumber(float64(*value), least, most)
	case *int64:
		return v.checkNumber(float64(*value), least, most)
	case *float64:
		return v.checkNumber(*value, least, most)
	}
	return nil
}

func (v variable) checkText(value string) error {
	if value == "" && v.preset == "" {
		return nil
	}
	if allowed, has := v.tag.Lookup("allow"); has {
		return oneOf(v.env, value, strings.Split(allowed, ",")...)
	}
	if schemes, has := v.tag.Lookup("url"); has {
		return address(v.env, value, strings.Split(schemes, ",")...)
	}
	if tag, has := v.tag.Lookup("secret"); has {
		if least := int(number(tag, shortestSecret)); len(value) < least {
			return refuse(v.env, "too short; use at least %d characters", least)
		}
	}
	return nil
}

// checkNumber checks a range in which each end may be open. NaN is in no range.
func (v variable) checkNumber(value float64, least, most string) error {
	if least == "" || value >= number(least, 0) && value <= number(most, math.MaxInt64) {
		return nil
	}
	allowed := "a number from " + least
	if most != "" {
		allowed += " to " + most
	}
	return refuse(v.env, "%s is not allowed; use %s", strconv.FormatFloat(value, 'f', -1, 64), allowed)
}

// number and duration read an end of a range.
func number(text string, open float64) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return open
	}
	return n
}

func duration(text string) time.Duration {
	d, _ := time.ParseDuration(text) // the tags are constants
	return d
}
