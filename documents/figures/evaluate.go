package figures

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

const (
	maxFormula = 1000 // bytes
	maxDigits  = 40   // of one number
	maxNesting = 50
)

// Evaluate returns the exact value of a formula: numbers with a point before decimals and + - * / ( )
// between them, 15% for a percentage, and the functions sum, average, min, max, abs and change.
func Evaluate(formula string) (*big.Rat, error) {
	if len(formula) > maxFormula {
		return nil, errors.New("the formula is too long")
	}
	tree, err := parser.ParseExpr(asGo(formula))
	if err != nil {
		return nil, errors.New("this is no formula: write numbers with + - * / ( ) and %")
	}
	return value(tree, 0)
}

var (
	formulaSigns = strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-", "–", "-", "$", "", "€", "", "£", "", "_", "", "\n", " ", "\t", " ", "\u00a0", " ")
	call         = lazyregexp.New(`[A-Za-z]\s*\(`)
	thousands    = lazyregexp.New(`\b\d{1,3}(?:,\d{3})+\b`)
	percentage   = lazyregexp.New(`(\d+(?:\.\d+)?|\.\d+)\s*%`)
	leadZeros    = lazyregexp.New(`(^|[^\d.])0+(\d)`)
)

// asGo writes a formula as an expression of Go: signs of currencies and thousands are left out (a
// comma between the numbers of a function separates them), and 15% is (15/100).
func asGo(formula string) string {
	formula = formulaSigns.Replace(formula)
	if !call.MatchString(formula) {
		formula = thousands.ReplaceAllStringFunc(formula, func(n string) string { return strings.ReplaceAll(n, ",", "") })
	}
	formula = percentage.ReplaceAllString(formula, "($1/100)")
	return leadZeros.ReplaceAllString(formula, "$1$2")
}

func value(e ast.Expr, depth int) (*big.Rat, error) {
	if depth > maxNesting {
		return nil, errors.New("the formula is nested too deeply")
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return value(e.X, depth+1)
	case *ast.BasicLit:
		return literal(e)
	case *ast.UnaryExpr:
		x, err := value(e.X, depth+1)
		if err == nil && e.Op == token.SUB {
			x = new(big.Rat).Neg(x)
		} else if err == nil && e.Op != token.ADD {
			err = errors.New("only + - * / are known")
		}
		return x, err
	case *ast.BinaryExpr:
		x, err := value(e.X, depth+1)
		if err != nil {
			return nil, err
		}
		y, err := value(e.Y, depth+1)
		if err != nil {
			return nil, err
		}
		return combined(e.Op, x, y)
	case *ast.CallExpr:
		return function(e, depth)
	}
	return nil, errors.New("this is no formula: write numbers with + - * / ( ) and %")
}

func literal(e *ast.BasicLit) (*big.Rat, error) {
	if len(e.Value) > maxDigits || strings.ContainsAny(e.Value, "eExXpPbBoO_i'\"`") {
		return nil, errors.New("write numbers with at most 40 digits, without an exponent")
	}
	x, ok := new(big.Rat).SetString(e.Value)
	if !ok {
		return nil, fmt.Errorf("%s is no number", e.Value)
	}
	return x, nil
}

func combined(op token.Token, x, y *big.Rat) (*big.Rat, error) {
	switch op {
	case token.ADD:
		return new(big.Rat).Add(x, y), nil
	case token.SUB:
		return new(big.Rat).Sub(x, y), nil
	case token.MUL:
		return new(big.Rat).Mul(x, y), nil
	case token.QUO:
		if y.Sign() == 0 {
			return nil, errors.New("a division by zero")
		}
		return new(big.Rat).Quo(x, y), nil
	}
	return nil, errors.New("only + - * / are known")
}

func function(e *ast.CallExpr, depth int) (*big.Rat, error) {
	name, ok := e.Fun.(*ast.Ident)
	if !ok || len(e.Args) == 0 {
		return nil, errors.New("a function has a name and numbers")
	}
	var args []*big.Rat
	for _, a := range e.Args {
		x, err := value(a, depth+1)
		if err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	total := new(big.Rat)
	for _, a := range args {
		total.Add(total, a)
	}
	switch strings.ToLower(name.Name) {
	case "sum":
		return total, nil
	case "average", "avg", "mean":
		return total.Quo(total, new(big.Rat).SetInt64(int64(len(args)))), nil
	case "min":
		return slices.MinFunc(args, (*big.Rat).Cmp), nil
	case "max":
		return slices.MaxFunc(args, (*big.Rat).Cmp), nil
	case "abs":
		if len(args) == 1 {
			return new(big.Rat).Abs(args[0]), nil
		}
	case "change":
		if len(args) == 2 && args[0].Sign() != 0 {
			grown := new(big.Rat).Sub(args[1], args[0])
			grown.Quo(grown, new(big.Rat).Abs(args[0]))
			return grown.Mul(grown, new(big.Rat).SetInt64(100)), nil
		}
	}
	return nil, fmt.Errorf("%s is not known with these numbers: there are sum, average, min, max, abs of one number, and change from one number (not 0) to another", name.Name)
}
