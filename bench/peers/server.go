// Server for the side `go`: the same interface with Go's standard library alone.
package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

type object = map[string]any

var secret = []byte(os.Getenv("JWT_SECRET"))
var lock sync.RWMutex
var items = map[string]object{}

func uuid() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func answer(w http.ResponseWriter, code int, status, message string, data any) {
	id := uuid()
	body := object{"session_id": id, "status": status, "message": message, "data": data}
	if code >= 400 {
		body = object{"detail": object{"detail": message, "session_id": id, "error_code": status}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("X-Session-Id", id)
	text, _ := json.Marshal(body)
	w.WriteHeader(code)
	w.Write(text)
}

func isValid(token string) bool {
	texts := strings.SplitN(token, ".", 3)
	if len(texts) < 3 {
		return false
	}
	var part [3][]byte
	for n, text := range texts {
		part[n], _ = base64.RawURLEncoding.DecodeString(text)
	}
	var header struct{ Alg string }
	var claims struct {
		Sub string
		Exp float64
	}
	if json.Unmarshal(part[0], &header) != nil || json.Unmarshal(part[1], &claims) != nil {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(token[:strings.LastIndex(token, ".")]))
	isSigned := header.Alg == "HS256" && hmac.Equal(part[2], mac.Sum(nil))
	return isSigned && claims.Sub != "" && claims.Exp > float64(time.Now().Unix())
}

func write(w http.ResponseWriter, r *http.Request, id string, code int, status string) {
	var body struct {
		Data      object  `json:"data"`
		ProjectID *string `json:"project_id"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 16<<20)).Decode(&body)
	if err != nil || body.Data == nil {
		answer(w, 422, "VALIDATION_ERROR", "The body is invalid", nil)
		return
	}
	body.Data["id"], body.Data["project_id"] = id, body.ProjectID
	lock.Lock()
	items[id] = body.Data
	lock.Unlock()
	answer(w, code, status, "Item "+status+" successfully", body.Data)
}

func serve(w http.ResponseWriter, r *http.Request) {
	if !isValid(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
		answer(w, 401, "INVALID_TOKEN", "The token is invalid", nil)
		return
	}
	id := strings.Trim(strings.TrimPrefix(r.URL.Path, "/api/v1/items"), "/")
	lock.RLock()
	item, found := items[id]
	lock.RUnlock()
	switch {
	case id == "" && r.Method == "POST":
		write(w, r, uuid(), 201, "created")
	case id == "":
		lock.RLock()
		all := make([]object, 0, len(items))
		for _, item := range items {
			all = append(all, item)
		}
		lock.RUnlock()
		answer(w, 200, "success", "Items retrieved successfully", all)
	case !found:
		answer(w, 404, "", "Item "+id+" not found", nil)
	case r.Method == "PUT":
		write(w, r, id, 200, "updated")
	case r.Method == "DELETE":
		lock.Lock()
		delete(items, id)
		lock.Unlock()
		w.WriteHeader(204)
	default:
		answer(w, 200, "success", "Item retrieved successfully", item)
	}
}

func main() {
	http.HandleFunc("/api/v1/health", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, "healthy", "Service is healthy", nil)
	})
	http.HandleFunc("/api/v1/items", serve)
	http.HandleFunc("/api/v1/items/", serve)
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
