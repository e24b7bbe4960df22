/**
 * Returns the address of the other end of a connection; empty if it has none. Forwarding headers
 * are ignored, because every client can set them.
 */
export function peerAddress({ remoteAddr }: { readonly remoteAddr?: Deno.Addr }): string {
  return remoteAddr !== undefined && "hostname" in remoteAddr ? remoteAddr.hostname : "";
}
