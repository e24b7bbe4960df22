import { isObject } from "../core/json/json.ts";
import { isLoopbackName } from "../core/loopback.ts";
import { readBoolean } from "./fields.ts";
import type { Path, Problem } from "./problems.ts";
import type { Config } from "./schema.ts";

/** What is wrong between the keys of `data_sharing` and `general`, in the file as it is written. */
export function outboundProblems(sharing: unknown, general: unknown = {}): Problem[] {
  if (!isObject(sharing)) return [];
  const isOn = readBoolean(sharing.enabled) === true;
  const wantsControl = readBoolean(sharing.remote_control) === true;
  if (!isOn) {
    const text = "needs data_sharing.enabled: true";
    const path = ["data_sharing", "remote_control"];
    return wantsControl ? [{ path, text, at: "value" }] : [];
  }
  return isObject(general) ? identityProblems(general) : [];
}

/** What is not written at all is told where it was asked for: there is no other place for it. */
function identityProblems(general: Readonly<Record<string, unknown>>): Problem[] {
  const names = ["api_key", "backend_url"] as const;
  const missing = names.filter((name) => (general[name] ?? null) === null);
  const blank = names.filter((name) => isBlank(general[name]));
  const needed = missing.map((name) => `general.${name}`).join(" and ");
  const text = "must not be blank while data_sharing.enabled is true";
  const problems = blank.map((name): Problem => ({ path: ["general", name], text, at: "value" }));
  if (needed === "") return problems;
  const path: Path = ["data_sharing", "enabled"];
  return [...problems, { path, text: `needs ${needed}`, at: "value" }];
}

function isBlank(value: unknown): boolean {
  return typeof value === "string" && value.trim() === "";
}

/** What is allowed and yet surely not meant. */
export function outboundWarnings({ data_sharing, general }: Config): Problem[] {
  const { enabled, share_prompts, share_responses } = data_sharing;
  if (!enabled) {
    const idle = [["share_prompts", share_prompts], ["share_responses", share_responses]] as const;
    return idle.filter(([, isOn]) => isOn).map(([name]): Problem => {
      const text = "has no effect while data_sharing.enabled is false";
      return { path: ["data_sharing", name], text, at: "value" };
    });
  }
  const address = URL.parse(general.backend_url ?? "");
  if (address?.protocol !== "http:" || isLoopbackName(address.hostname)) return [];
  const text = "is not encrypted on its way: what is shared and the key can be read; use https";
  return [{ path: ["general", "backend_url"], text, at: "value" }];
}
