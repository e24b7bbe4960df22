/** Returns a UTF-16 code unit as the escape of a JSON string, such as `\u001b`. */
export function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
