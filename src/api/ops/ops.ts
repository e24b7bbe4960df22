import { FIRST_WAIT_MS } from "../../core/credential.ts";
import type { ProviderAccount } from "../../wires/wire.ts";
import { openaiErrors } from "../../core/failure/openai_error.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Reply } from "../../core/stream/reply.ts";
import { type Failed, type Result, success } from "../../core/failure/result.ts";
import { VERSION } from "../../core/build.ts";
import { utf8Bytes } from "../../formats/utf8.ts";
import type { Call } from "../../call/call.ts";
import { refuseOverloaded } from "../../traffic/call_memory.ts";
import type { ClientApi } from "../client_api.ts";
import { jsonReply } from "../stored/json_reply.ts";

/** Prometheus text exposition format. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Returns a 503 response: new requests should go elsewhere. */
function notReady(content: JsonObject): Result<Reply> {
  return jsonReply(content, 503);
}

/** True if the first credential of the account has not come yet. */
function isAwaited({ credential }: ProviderAccount): boolean {
  return credential !== null && credential.holder.first() !== null;
}

function readiness({ generation: { providers, config }, state, world }: Call): Result<Reply> {
  const { inFlight, availability } = state;
  if (inFlight.isDraining) return notReady({ status: "draining" });
  const isStarting = world.now() - state.began < FIRST_WAIT_MS && providers.size > 0 &&
    providers.values().every(({ accounts }) => accounts.every(isAwaited));
  if (isStarting) return notReady({ status: "starting" });
  const ready = { status: "ready", providers: providers.size };
  if (availability === null) return jsonReply(ready);
  if (availability.isUp()) return jsonReply({ ...ready, state: "ok" });
  return config.state.required
    ? notReady({ status: "not_ready", state: "unavailable" })
    : jsonReply({ ...ready, state: "unavailable" });
}

/** Refuses metrics, or says why they broke off. */
function refuseMetrics(call: Call): Failed {
  return refuseOverloaded(call, "response_memory", "has sent metrics that are not taken");
}

/** Health, readiness and metrics endpoints for operators. */
export const ops: ClientApi = {
  name: null,
  errors: openaiErrors,
  endpoints: [
    {
      method: "GET",
      path: "/health",
      about: "Reports that the process runs.",
      body: false,
      handle({ world, state }) {
        const uptime = Math.floor((world.now() - state.began) / 1000);
        return Promise.resolve(
          jsonReply({ status: "ok", version: VERSION, uptime_seconds: uptime }),
        );
      },
    },
    {
      method: "GET",
      path: "/ready",
      about:
        "Reports whether the gateway accepts requests; 503 during shutdown, and without a first credential or a required state store.",
      body: false,
      handle: (call) => Promise.resolve(readiness(call)),
    },
    {
      method: "GET",
      path: "/metrics",
      about: "Returns the metrics for Prometheus.",
      body: false,
      async handle(call) {
        const body = utf8Bytes(await call.metrics.scrape());
        const isAdmitted = call.state.admission.admitScrape({
          id: call.id,
          client: call.clientOf(),
          bytes: body.length,
          end() {
            call.cancellation.cancel(refuseMetrics(call).failure);
            // The runtime holds what it has until the client takes it.
            call.abort?.();
          },
        });
        if (!isAdmitted) return refuseMetrics(call);
        const headers = { "content-type": METRICS_TYPE };
        return success({ kind: "whole", response: { status: 200, headers, body } });
      },
    },
  ],
};
