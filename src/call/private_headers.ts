import type { Call } from "./call.ts";

/**
 * True for the lower-case name of a header with a client key, or with an end user of the key of the
 * call: neither is recorded or shared. Of a caller whose key is refused, any key may name the
 * header.
 */
export function isPrivateHeader(name: string, { generation, client: { key } }: Call): boolean {
  if (name === generation.config.security.api_key.header.toLowerCase()) return true;
  const keys = key === null ? generation.clientKeys : [key];
  return keys.some(({ endUsers }) => endUsers?.header === name);
}
