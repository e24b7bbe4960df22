/** Returns base64 of either alphabet as standard base64 with padding; null if it is none. */
export function standardBase64(text: string): string | null {
  const data = text.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/");
  const digits = data.slice(0, data.endsWith("==") ? -2 : data.endsWith("=") ? -1 : undefined);
  // The pattern searches for one foreign character: a pattern that matches the whole text would
  // need a stack as long as the data.
  if (digits === "" || digits.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(digits)) return null;
  return digits + "=".repeat((4 - digits.length % 4) % 4);
}
