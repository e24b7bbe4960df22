import { openaiErrors } from "../../core/openai_error.ts";
import type { Reply } from "../../core/reply.ts";
import { type Result, success } from "../../core/result.ts";
import { VERSION } from "../../core/build.ts";
import { utf8Bytes } from "../../formats/utf8.ts";
import type { ClientApi } from "../client_api.ts";
import { jsonReply } from "../json_reply.ts";

/** Prometheus text exposition format. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Returns the 503 response of a gateway that shuts down: new requests should go elsewhere, running ones finish. */
function draining(): Result<Reply> {
  const body = utf8Bytes(JSON.stringify({ status: "draining" }));
  const headers = { "content-type": "application/json" };
  return success({ kind: "whole", response: { status: 503, headers, body } });
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
      about: "Reports whether the gateway accepts requests; 503 during shutdown.",
      body: false,
      handle({ generation, state }) {
        if (state.inFlight.isDraining) return Promise.resolve(draining());
        return Promise.resolve(
          jsonReply({ status: "ready", providers: generation.providers.size }),
        );
      },
    },
    {
      method: "GET",
      path: "/metrics",
      about: "Returns the metrics for Prometheus.",
      body: false,
      async handle({ metrics }) {
        const body = utf8Bytes(await metrics.scrape());
        const headers = { "content-type": METRICS_TYPE };
        return success({ kind: "whole", response: { status: 200, headers, body } });
      },
    },
  ],
};
