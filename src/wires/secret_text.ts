/** Signature of a request to AWS, with which the request can be sent again for some minutes. */
const SIGNATURE = /\bSignature=[0-9a-f]{64}/g;

/** Returns a text without these secrets and without signatures; JSON escapes are not decoded. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const clean = secrets.reduce((clean, secret) => clean.replaceAll(secret, "[redacted]"), text);
  return clean.replaceAll(SIGNATURE, "Signature=[redacted]");
}

/** True if a text holds one of these secrets or a signature; JSON escapes are not decoded. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => text.includes(secret)) || text.search(SIGNATURE) >= 0;
}
