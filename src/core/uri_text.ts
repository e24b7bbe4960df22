/** Returns a part of a URI as text; as it is if its encoding is no text. */
export function decodeUriText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
