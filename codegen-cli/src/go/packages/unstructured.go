package unstructured

type Unstructured struct{}
