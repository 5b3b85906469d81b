package url

type Values map[string][]string
