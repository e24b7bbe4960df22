import { isObject } from "../core/json/json.ts";
import { parseBoolean } from "./fields.ts";
import { type Path, type Problem, problem } from "./problems.ts";
import type { Config } from "./schema.ts";
import { isOpenAddress } from "../core/authority.ts";

/**
 * Returns the problems between the keys of `data_sharing` and `general`. Takes values before
 * defaults.
 */
export function outboundProblems(sharing: unknown, general: unknown = {}): Problem[] {
  if (!isObject(sharing)) return [];
  const isOn = parseBoolean(sharing.enabled) === true;
  const isControlOn = parseBoolean(sharing.remote_control) === true;
  if (!isOn) {
    const text = "requires data_sharing.enabled: true";
    const path = ["data_sharing", "remote_control"];
    return isControlOn ? [problem(path, text)] : [];
  }
  return isObject(general) ? identityProblems(general) : [];
}

/**
 * A missing key has no position in the file: it is reported at `data_sharing.enabled`, which
 * requires it.
 */
function identityProblems(general: Readonly<Record<string, unknown>>): Problem[] {
  const names = ["api_key", "backend_url"] as const;
  const missing = names.filter((name) => (general[name] ?? null) === null);
  const blank = names.filter((name) => isBlank(general[name]));
  const needed = missing.map((name) => `general.${name}`).join(" and ");
  const text = "must not be blank while data_sharing.enabled is true";
  const problems = blank.map((name): Problem => problem(["general", name], text));
  if (needed === "") return problems;
  const path: Path = ["data_sharing", "enabled"];
  return [...problems, problem(path, `requires ${needed}`)];
}

function isBlank(value: unknown): boolean {
  return typeof value === "string" && value.trim() === "";
}

/** Returns a warning for each valid setting that is likely a mistake. */
export function outboundWarnings({ data_sharing, general }: Config): Problem[] {
  const { enabled, share_prompts, share_responses } = data_sharing;
  if (!enabled) {
    const idle = [["share_prompts", share_prompts], ["share_responses", share_responses]] as const;
    return idle.filter(([, isOn]) => isOn).map(([name]): Problem => {
      const text = "has no effect while data_sharing.enabled is false";
      return problem(["data_sharing", name], text);
    });
  }
  if (!isOpenAddress(URL.parse(general.backend_url ?? ""))) return [];
  const text =
    "is not encrypted: the key and the shared data can be read on the network; use https";
  return [problem(["general", "backend_url"], text)];
}
