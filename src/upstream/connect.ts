import type { HeaderFields } from "../core/reply.ts";
import { failed, fault, type Result, success } from "../core/result.ts";
import type { Incoming, World } from "../core/world.ts";
import type { UpstreamRequest } from "../wires/wire.ts";
import { sent } from "./headers.ts";
import type { Watch } from "./watch.ts";

/** Phrases of the runtime for a connection that never stood, so that nothing can have been taken. */
const NEVER_STOOD = /tcp connect error|dns error|cannot be sent/;

/** Sends one request. Redirects are not followed: they come back as they are. */
export async function connect(
  world: World,
  url: string,
  request: UpstreamRequest,
  headers: HeaderFields,
  watch: Watch,
): Promise<Result<Incoming>> {
  try {
    return success(
      await world.send(url, {
        method: request.method,
        headers: sent(headers),
        body: request.bytes?.() ?? request.body?.() ?? null,
        signal: watch.signal,
        onAbort: watch.onCut,
      }),
    );
  } catch (error) {
    const reason = watch.reason();
    if (reason !== null) return failed(reason);
    const text = error instanceof Error ? error.message : "";
    return fault("upstream_unreachable", sentence(text), { taken: !NEVER_STOOD.test(text) });
  }
}

/** The runtime tells network errors apart only in its message, which holds addresses: not for clients. */
function sentence(text: string): string {
  if (text.includes("cannot be sent")) {
    return "A header for the provider holds what cannot be sent.";
  }
  if (text.includes("dns error")) return "The provider's host name could not be resolved.";
  if (text.includes("tcp connect error")) return "The provider refused the connection.";
  if (text.includes("(Connect)")) return "No secure connection to the provider could be made.";
  return "The connection to the provider broke before it answered.";
}
