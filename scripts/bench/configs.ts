import { DETECTOR_NAMES } from "../../src/config/privacy_schema.ts";
import { issuerSecurity } from "../tools/issuer.ts";

/** Client key of the configuration `tokens`. */
export const STATIC_KEY = "bench-key-0123456789abcdef0123456789abcdef";

/** The names of the gateway configurations under load. */
export type ConfigName =
  | "one"
  | "ten-targets"
  | "hundred-routes"
  | "translate"
  | "dashboard"
  | "limited"
  | "tokens"
  | "admin"
  | "spans"
  /** Privacy rules that no call has, and rules that each call has. */
  | "privacy-off"
  | "privacy"
  /** Also searches the answers. */
  | "privacy-answers";

/** The service name of a gateway that sends its spans to the upstream. */
export const SPANS_SERVICE = "bench-spans";

/**
 * Returns the text of a configuration with the upstream at `url`, such as `http://127.0.0.1:4100`.
 * `state` has the settings of a state store for the configurations `one` and `limited`; `more` has
 * further sections for `one`.
 */
export function configText(
  name: ConfigName,
  url: string,
  state: Readonly<Record<string, unknown>> = {},
  more: Readonly<Record<string, unknown>> = {},
): string {
  switch (name) {
    case "one":
      return toConfigText([newProvider("up", url)], [newRoute("main", ["up"])], { state, ...more });
    case "admin":
      return toConfigText([newProvider("up", url)], [newRoute("main", ["up"])], {
        admin: { enabled: true, port: 0 },
      });
    case "tokens":
      return toConfigText([newProvider("up", url)], [newRoute("main", ["up"])], {
        security: issuerSecurity({ name: "bench", value: STATIC_KEY }),
      });
    case "spans":
      return toConfigText([newProvider("up", url)], [newRoute("main", ["up"])], {
        telemetry: { service_name: SPANS_SERVICE },
      });
    case "limited":
      // Every request takes from a bucket that never becomes empty.
      return toConfigText([newProvider("up", url)], [newRoute("main", ["up"])], {
        state,
        rate_limiting: { enabled: true, requests_per_minute: 60_000_000, burst_size: 1_000_000 },
      });
    case "privacy-off":
    case "privacy":
    case "privacy-answers":
      return toConfigText([newProvider("up", url)], [newRoute("main", ["up"])], {
        privacy: {
          rules: [
            { name: "values", find: DETECTOR_NAMES, action: "replace" },
            { name: "strangers", find: DETECTOR_NAMES, phase: "response", action: "mask" },
          ],
          policies: [
            { name: "all", rules: name === "privacy" ? ["values"] : ["values", "strangers"] },
          ],
          ...name !== "privacy-off" && { default: "all" },
        },
      });
    case "ten-targets": {
      const ids = Array.from({ length: 10 }, (_, at) => `up${at}`);
      return toConfigText(ids.map((id) => newProvider(id, url)), [newRoute("main", ids)]);
    }
    case "hundred-routes": {
      const others = Array.from({ length: 99 }, (_, at) => ({
        ...newRoute(`other${at}`, ["up"]),
        match: { models: [`model-${at}-*`] },
      }));
      return toConfigText([newProvider("up", url)], [...others, newRoute("main", ["up"])]);
    }
    case "dashboard":
      return toConfigText([newProvider("up", url)], [newRoute("main", ["up"])], {
        general: { api_key: "gk-bench", backend_url: `${url}/silent` },
        data_sharing: { enabled: true, share_prompts: true, share_responses: true },
      });
    case "translate":
      return toConfigText(
        [{ ...newProvider("up", url), type: "messages", default_model: "bench" }],
        [newRoute("main", ["up"])],
      );
  }
}

interface Provider {
  readonly id: string;
  readonly type: string;
  readonly base_url: string;
  readonly api_key: string;
  readonly default_model?: string;
}

function newProvider(id: string, url: string): Provider {
  return { id, type: "compat", base_url: `${url}/v1`, api_key: `sk-bench-${id}` };
}

function newRoute(name: string, ids: readonly string[]) {
  return { name, targets: ids.map((provider) => ({ provider })) };
}

/** Returns a configuration as JSON, which is valid YAML. */
function toConfigText(
  providers: readonly Provider[],
  routes: readonly ReturnType<typeof newRoute>[],
  more: Readonly<Record<string, unknown>> = {},
): string {
  const byId = Object.fromEntries(providers.map(({ id, ...settings }) => [id, settings]));
  return JSON.stringify({
    providers: byId,
    routing: { routes },
    retry: { enabled: false },
    ...more,
  });
}
