import type { JsonObject } from "../../../src/core/json/json.ts";
import { CHAT_SHAPES, messages, nulls, REFUSED_CHAT_SHAPES, USER } from "./chat_shapes.ts";
import type { GrowingCall } from "./doubling.ts";
import {
  growingCall,
  growingConfig,
  type GrowingOptions,
  MAX_GROWN_MEMBERS,
  type ProviderName,
  PROVIDERS,
} from "./growing_gateway.ts";
import { shortAnswer, times } from "./spoken.ts";

function requestOf(
  name: string,
  provider: ProviderName,
  isStream: boolean,
  fields: (n: number) => JsonObject,
  options: GrowingOptions = {},
): GrowingCall {
  return growingCall(name, (n) => ({
    path: "/chat/completions",
    body: JSON.stringify({ model: `${provider}/m`, stream: isStream, ...fields(n) }),
    answer: shortAnswer(provider, isStream),
  }), options);
}

/** Chat Completions requests in which one thing grows, for every type of provider. */
export const CHAT_REQUESTS: readonly GrowingCall[] = [
  ...PROVIDERS.flatMap((provider) =>
    CHAT_SHAPES.map(({ name, fields, refusedBy = [], most }, at) =>
      requestOf(`chat over ${provider}: ${name}`, provider, at % 2 === 0, fields, {
        isRefused: refusedBy.includes(provider),
        most,
      })
    )
  ),
  ...REFUSED_CHAT_SHAPES.map(({ name, fields }) =>
    requestOf(`chat: ${name}`, "compat", false, fields, { isRefused: true })
  ),
  ...["members of an object", "messages with a text"].map((name, at) =>
    requestOf(
      `chat with a cache: ${name}`,
      "compat",
      false,
      (n) => at === 0 ? { ...messages(USER), ...nulls(n) } : messages(...times(n, () => USER)),
      {
        config: growingConfig("caching: {enabled: true}\n"),
        most: at === 0 ? MAX_GROWN_MEMBERS : undefined,
      },
    )
  ),
];
