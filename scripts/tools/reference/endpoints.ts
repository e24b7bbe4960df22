import { chat } from "../../../src/api/chat/chat.ts";
import type { ClientApi } from "../../../src/api/client_api.ts";
import { conversations } from "../../../src/api/conversations/conversations.ts";
import { embeddings } from "../../../src/api/embeddings/embeddings.ts";
import { models } from "../../../src/api/models/models.ts";
import { ops } from "../../../src/api/ops/ops.ts";
import { relayedApis } from "../../../src/api/relay/relay.ts";
import { clientApis } from "../../../src/api/registry.ts";
import { responses } from "../../../src/api/responses/responses.ts";
import { storedChat } from "../../../src/api/stored_chat/stored_chat.ts";
import { generatedNote, tableText } from "./markdown.ts";

/** Client APIs in the order of the page, each with the page that explains it. */
const GUIDES: ReadonlyMap<ClientApi, string> = new Map([
  [chat, "[Streaming](../guide/streaming.md)"],
  [storedChat, "[Native state](../guide/native-state.md)"],
  [responses, "[Responses](../guide/responses.md)"],
  [conversations, "[Responses](../guide/responses.md)"],
  [embeddings, "[Embeddings](../guide/embeddings-models.md#embeddings)"],
  ...relayedApis.map((api) => [api, "[Audio, images, files](../guide/relay.md)"] as const),
  [models, "[Models](../guide/embeddings-models.md#models)"],
  [ops, "[Monitoring](../operate/monitoring.md#health-and-metrics)"],
]);

/** Returns the page `docs/reference/endpoints.md`. */
export function endpointsPage(): string {
  const order = [...GUIDES.keys()];
  const rows = clientApis.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)).flatMap((api) => {
    const guide = GUIDES.get(api) ?? "";
    const sockets = api.sockets ?? [];
    return [
      ...api.endpoints.map(({ method, path, about }) => ({ method, path, about, guide })),
      ...sockets.map(({ path, about }) => ({
        method: "GET",
        path,
        about,
        guide: "[WebSocket](../guide/websocket.md)",
      })),
    ];
  });
  return `# Endpoints

${generatedNote("`src/api/registry.ts`")}

${
    tableText(
      ["method and path", "what it does", "more"],
      rows.map(({ method, path, about, guide }) => [`\`${method} ${shown(path)}\``, about, guide]),
    )
  }

Every other path is 404 \`unknown_url\`; another method is 405 \`method_not_allowed\`. A request body has at
most 10 MiB, on \`/v1/messages\` 32 MiB; a multipart one \`server.max_upload\`. A content type is required for multipart bodies, and for JSON on \`/v1/images/edits\`. Responses and conversations are served by the gateway itself or
by a provider with the [capability](../guide/native-state.md). The [admin page](../operate/admin.md) has its own listener and paths.
`;
}

/** Returns a path with its parameters in braces. */
function shown(path: string): string {
  return path.replace(/:(\w+)(?:\{[^}]*\})?/g, "{$1}");
}
