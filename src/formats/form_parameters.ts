/** A parameter of a header, with its value as a token or in quotes. */
const PARAMETER = /([ \t]*);[ \t]*([!#$%&'*+.^_`|~0-9a-z-]+)=("(?:[^"\\]|\\[^])*"|[^;"\s]*)/iy;

/** A parameter of a header of a form. */
export interface FormParameter {
  /** In lower case. */
  readonly name: string;
  /** As it is written, with its quotation marks and escapes. */
  readonly written: string;
  readonly value: string;
  /** True if white space is before its semicolon. */
  readonly isApart: boolean;
}

/**
 * Parses the parameters of a `Content-Type` or `Content-Disposition` (RFC 7578) from a place on to the
 * end; null if anything else is there.
 */
export function parseFormParameters(text: string, start: number): readonly FormParameter[] | null {
  const parameters: FormParameter[] = [];
  for (let at = start; at < text.length; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const found = PARAMETER.exec(text);
    if (found === null) return null;
    const [, space, name = "", written = ""] = found;
    const value = written.startsWith('"')
      ? written.slice(1, -1).replace(/\\([^])/g, "$1")
      : written;
    parameters.push({ name: name.toLowerCase(), written, value, isApart: space !== "" });
  }
  return parameters;
}
