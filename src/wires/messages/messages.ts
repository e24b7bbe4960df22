import type { TranslatedWire } from "../wire.ts";
import { decode } from "./decode.ts";
import { encode } from "./encode.ts";
import { errorFields } from "./errors.ts";
import { decoder } from "./stream.ts";

/** The first version has sampling fields, which a provider may be configured with. */
const USUAL_VERSION = "2023-06-01";

/** The protocol of messages-style upstreams: server-sent events, paths under /v1. */
export const messages: TranslatedWire = {
  name: "messages",
  framing: "sse",
  base: (url) => url.replace(/\/+$/, "").replace(/\/+v1$/, ""),
  encode,
  decode,
  decoder,
  headers({ settings }, client) {
    const fixed = Object.entries(settings.headers).map(([name, value]) =>
      [name.toLowerCase(), value] as const
    );
    const { authorization, ...others } = Object.fromEntries(fixed);
    const beta = client.get("messages-beta") ?? "";
    // Upstreams want one kind of credentials, never both.
    const hasKey = settings.api_key !== undefined && settings.api_key !== "";
    return {
      ...others,
      ...authorization !== undefined && !hasKey && { authorization },
      "content-type": "application/json",
      "anthropic-version": settings.api_version ?? USUAL_VERSION,
      ...beta !== "" && { "anthropic-beta": beta },
      ...hasKey && { "x-api-key": settings.api_key },
    };
  },
  error: errorFields,
};
