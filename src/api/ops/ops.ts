import type { JsonObject } from "../../core/json.ts";
import type { Reply } from "../../core/reply.ts";
import { type Result, success } from "../../core/result.ts";
import { VERSION } from "../../core/version.ts";
import { utf8Bytes } from "../../formats/utf8.ts";
import type { ClientApi } from "../client_api.ts";

/** Health and readiness, for whoever watches the process. */
export const ops: ClientApi = {
  name: "ops",
  endpoints: [
    {
      method: "GET",
      path: "/health",
      body: false,
      handle({ world, vault }) {
        const uptime = Math.floor((world.now() - vault.began) / 1000);
        return Promise.resolve(json({ status: "ok", version: VERSION, uptime_seconds: uptime }));
      },
    },
    {
      method: "GET",
      path: "/ready",
      body: false,
      handle({ generation }) {
        return Promise.resolve(json({ status: "ready", providers: generation.providers.size }));
      },
    },
  ],
};

function json(value: JsonObject): Result<Reply> {
  return success({
    as: "answer",
    answer: {
      status: 200,
      headers: { "content-type": "application/json" },
      body: utf8Bytes(JSON.stringify(value)),
    },
  });
}
