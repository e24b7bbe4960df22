import { isObject, type JsonDocument, type JsonObject } from "../../core/json/json.ts";
import { profileOf } from "../../data/hosts.ts";
import { type Edit, type Entry, parseElements } from "../../formats/edit.ts";
import { fillMembers, type ParameterPlaces } from "../preset_members.ts";
import type { Target } from "../wire.ts";

/** Changes that a named model makes in the text of a Chat client. */
export interface ChatPreset {
  readonly entries: readonly Entry[];
  readonly values: JsonObject;
}

const LIMITS = ["max_completion_tokens", "max_tokens"] as const;

const isSet = (body: JsonObject, key: string) => (body[key] ?? null) !== null;

/** Returns the members that a named model sets in a Chat request; none for a route. */
export function presetChat(document: JsonDocument, target: Target): ChatPreset {
  const { named, provider } = target;
  if (named === undefined) return NOTHING;
  const { preset } = named;
  const { tokenLimit = "max_completion_tokens" } = profileOf(
    provider.settings.compatibility_profile,
  );
  const { entries, values } = fillMembers(document, preset, chatPlaces(tokenLimit));
  const lowered = loweredLimits(document, target)
    .map((key) => [key, String(preset.maxOutput)] as const);
  return { entries: [...entries, ...lowered], values };
}

/** Changes of a route without a named model: none. */
const NOTHING: ChatPreset = { entries: [], values: {} };

function chatPlaces(tokenLimit: string): ParameterPlaces {
  return {
    places: {
      effort: ["reasoning_effort"],
      temperature: ["temperature"],
      top_p: ["top_p"],
      top_k: ["top_k"],
      max_tokens: [tokenLimit],
      service_tier: ["service_tier"],
      verbosity: ["verbosity"],
      parallel_tool_calls: ["parallel_tool_calls"],
      stop: ["stop"],
    },
    isTaken(key, { thinking, reasoning, tools, ...body }) {
      switch (key) {
        case "effort":
          return isObject(reasoning) && isSet(reasoning, "effort") ||
            isObject(thinking) && thinking.type === "disabled";
        case "max_tokens":
          return LIMITS.some((limit) => isSet(body, limit));
        case "parallel_tool_calls":
          return !Array.isArray(tools) || tools.length === 0;
        default:
          return false;
      }
    },
  };
}

const NONE: readonly string[] = [];

/** Returns the limits of a Chat request that are above that of a named model, by their names. */
export function loweredLimits({ value }: JsonDocument, { named }: Target): readonly string[] {
  const most = named?.preset.maxOutput ?? null;
  if (most === null) return NONE;
  return LIMITS.filter((key) => Number(value[key] ?? 0) > most);
}

/**
 * Returns the edits that add the instructions of a named model as a message after those at the head
 * of a Chat request; none for a route.
 */
export function systemEdits(
  { text, value, members }: JsonDocument,
  { named, provider: { settings } }: Target,
): Edit[] {
  const system = named?.preset.system ?? null;
  const list = members.findLast(({ key }) => key === "messages");
  if (system === null || list === undefined || !Array.isArray(value.messages)) return [];
  const roles = value.messages.map((one) => isObject(one) ? one.role : null);
  const isDeveloper = roles.includes("developer") && !settings.normalize_developer_role;
  const role = isDeveloper ? "developer" : "system";
  const message = JSON.stringify({ role, content: system });
  const spans = parseElements(text, list.start);
  const head = roles.findIndex((one) => one !== "system" && one !== "developer");
  const next = head < 0 ? undefined : spans[head];
  if (next !== undefined) return [{ start: next.start, end: next.start, text: `${message},` }];
  const end = spans.at(-1)?.end;
  return end === undefined
    ? [{ start: list.start + 1, end: list.start + 1, text: message }]
    : [{ start: end, end, text: `,${message}` }];
}
