package http

type Header map[string][]string
