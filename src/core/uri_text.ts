/** Returns a part of a URI as text; as it is if its encoding is no text. */
export function decodeUriText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns user and password of an address as a client sends them (RFC 7617); null for none. */
export function basicCredentials({ username, password }: URL): string | null {
  const user = `${decodeUriText(username)}:${decodeUriText(password)}`;
  return user === ":" ? null : new TextEncoder().encode(user).toBase64();
}
