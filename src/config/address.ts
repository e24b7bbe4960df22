/**
 * Returns the problem of an address that must not have a query or a fragment; null if it is valid.
 */
export function addressProblem(written: string): string | null {
  return urlProblem(written) ??
    (/[?#]/.test(written) ? "must not contain a query or a fragment" : null);
}

/** Returns the problem of an http or https URL; null if it is valid. */
export function urlProblem(written: string): string | null {
  const url = URL.parse(written);
  return url !== null && /^https?:$/.test(url.protocol)
    ? null
    : "must be an absolute URL that begins with http:// or https://";
}
