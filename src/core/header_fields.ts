/** Header fields with lower-case names. A plain object: a `Headers` costs ten times as much to copy. */
export type HeaderFields = Readonly<Record<string, string>>;
