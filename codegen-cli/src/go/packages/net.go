package net

type IP []byte

func (ip IP) MarshalText() ([]byte, error) { return nil, nil }
