import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { COMPLETION, MESSAGES } from "../support/chat_call.ts";
import type { Collected } from "../support/dashboard.ts";
import type { UpstreamScript } from "../support/upstream.ts";
import type { OutboundGateway } from "./outbound_gateway.ts";

/** A provider that answers every chat call. */
export const answering: UpstreamScript = (exchange) => exchange.json(200, COMPLETION);

/**
 * A gateway over this provider that reports to this dashboard, with these members of
 * `data_sharing`.
 */
export function sharingConfig(upstream: string, board: string, switches: JsonObject): string {
  return JSON.stringify({
    providers: { up: { type: "compat", base_url: upstream, api_key: "k" } },
    routing: { routes: [{ name: "main", targets: [{ provider: "up" }] }] },
    retry: { enabled: false },
    general: { api_key: "gk-1", backend_url: board },
    data_sharing: switches,
  });
}

/** The status of one chat call that was read to its end. */
export async function chat(gateway: OutboundGateway): Promise<number> {
  const response = await gateway.fetch("/v1/chat/completions", {
    method: "POST",
    body: JSON.stringify({ model: "m", ...MESSAGES }),
  });
  await response.bytes();
  return response.status;
}

/** Sends `count` requests that no provider is needed for. Returns the statuses of the responses. */
export async function listModels(gateway: OutboundGateway, count: number): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let done = 0; done < count; done += 50) {
    const group = Array.from({ length: Math.min(50, count - done) }, async () => {
      const response = await gateway.fetch("/v1/models");
      await response.bytes();
      statuses.add(response.status);
    });
    await Promise.all(group);
  }
  return statuses;
}

/** The events of a POST. */
export function eventsIn({ body }: Collected): JsonObject[] {
  return isObject(body) && Array.isArray(body.events) ? body.events.filter(isObject) : [];
}
