/** Header fields of a request from a client. Names of fields are compared without regard to case (RFC 9110, 5.1). */
export interface RequestHeaders extends Iterable<[name: string, value: string]> {
  /** Returns the value of a field, those of repeated ones joined by commas; null if there is none. */
  get(name: string): string | null;
  has(name: string): boolean;
}
