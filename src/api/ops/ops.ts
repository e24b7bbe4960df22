import { VERSION } from "../../core/version.ts";
import type { ClientApi } from "../client_api.ts";
import { jsonReply } from "../json_reply.ts";

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
        return Promise.resolve(
          jsonReply({ status: "ok", version: VERSION, uptime_seconds: uptime }),
        );
      },
    },
    {
      method: "GET",
      path: "/ready",
      body: false,
      handle({ generation }) {
        return Promise.resolve(
          jsonReply({ status: "ready", providers: generation.providers.size }),
        );
      },
    },
  ],
};
