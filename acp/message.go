package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Codes of errors. The first are those of JSON-RPC, the others those of the
// protocol, but for codeHeld: -32002 would make clients begin a new session in
// silence, -32000 would make them log in.
const (
	codeParse     = -32700
	codeRequest   = -32600
	codeMethod    = -32601
	codeParams    = -32602
	codeInternal  = -32603
	codeCancelled = -32800
	codeNotFound  = -32002
	codeHeld      = -32010
)

// An rpcError is an error as a client gets it.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

func refuse(code int, format string, args ...any) *rpcError {
	return &rpcError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// A message is what a client sent: a request, or a notification, which has no
// id. An answer has no method; this side asks nothing, so that it is ignored.
type message struct {
	id     json.RawMessage // a string, a number or null; nil: a notification
	method string
	params json.RawMessage // an object
}

// parse reads a message. Of one that it refuses only the id is set, if it has
// a valid one.
func parse(line []byte) (message, error) {
	if !utf8.Valid(line) {
		return message{}, refuse(codeParse, "message is not UTF-8")
	}
	if !json.Valid(line) {
		return message{}, refuse(codeParse, "message is not JSON")
	}
	var members map[string]json.RawMessage // a struct would take members in any case
	if err := json.Unmarshal(line, &members); err != nil || members == nil {
		return message{}, refuse(codeRequest, "message is not an object; batches are not taken")
	}
	id, has := members["id"]
	if has && !validID(id) {
		return message{}, refuse(codeRequest, "id must be a string, a number or null")
	}
	m := message{id: id, params: members["params"]}
	var version string
	if json.Unmarshal(members["jsonrpc"], &version) != nil || version != "2.0" {
		return message{id: id}, refuse(codeRequest, `jsonrpc must be "2.0"`)
	}
	method, has := members["method"]
	if !has && (members["result"] != nil || members["error"] != nil) {
		return message{id: id}, nil
	}
	if json.Unmarshal(method, &m.method) != nil || m.method == "" {
		return message{id: id}, refuse(codeRequest, "method must be a string")
	}
	switch {
	case m.params == nil || bytes.Equal(m.params, []byte("null")):
		m.params = json.RawMessage("{}")
	case m.params[0] != '{':
		return message{id: id}, refuse(codeParams, "params must be an object")
	}
	return m, nil
}

func validID(id json.RawMessage) bool {
	return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9' || id[0] == 'n'
}

// decode reads the params of a method into p, a pointer to a struct. Unknown
// members are ignored.
func decode(params json.RawMessage, p any) error {
	if err := json.Unmarshal(params, p); err != nil {
		return refuse(codeParams, "params: %v", err)
	}
	return nil
}

// answer is the message that answers a request: with err if that is not nil.
func answer(id json.RawMessage, result any, err *rpcError) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	if err != nil {
		return encode(struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Error   *rpcError       `json:"error"`
		}{"2.0", id, err})
	}
	return encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", id, result})
}

// notification is a message that has no answer.
func notification(method string, params any) []byte {
	return encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
}

// encode returns a message with the end of its line. What is encoded are types
// of this package, which have no value that cannot be.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}
