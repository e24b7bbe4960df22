import type { JsonDocument, JsonObject } from "../../../core/json/json.ts";
import { type Failed, type Result, success } from "../../../core/failure/result.ts";
import type { Entry } from "../../../formats/edit.ts";
import type { Carrier } from "../../../prompt/carry.ts";
import { parameterAt, type Parameters, type Preset, withAppended } from "../../../prompt/preset.ts";
import { fillMembers, type ParameterPlaces } from "../../../wires/preset_members.ts";
import type { Target } from "../../../wires/wire.ts";

/** Changes that a named model makes in the text of a Responses client. */
export interface NativePreset {
  readonly entries: readonly Entry[];
  readonly values: JsonObject;
  /** Paths of the fields that are lowered. */
  readonly lossy: readonly string[];
}

const NOTHING: NativePreset = { entries: [], values: {}, lossy: [] };

const LIMIT = "max_output_tokens";

const PLACES: ParameterPlaces = {
  places: {
    effort: ["reasoning", "effort"],
    temperature: ["temperature"],
    top_p: ["top_p"],
    max_tokens: [LIMIT],
    service_tier: ["service_tier"],
    verbosity: ["text", "verbosity"],
    parallel_tool_calls: ["parallel_tool_calls"],
  },
  isTaken: (key, { tools }) =>
    key === "parallel_tool_calls" && (!Array.isArray(tools) || tools.length === 0),
};

/**
 * Returns the members that a named model sets in a Responses request; none for a route. Refuses a
 * parameter that the API does not have.
 */
export function nativePreset(
  document: JsonDocument,
  { named }: Target,
  carrier: Carrier,
): Result<NativePreset> {
  if (named === undefined) return success(NOTHING);
  const { preset } = named;
  const refused = refuseMissing(preset, carrier);
  if (refused !== null) return refused;
  const { entries, values } = fillMembers(document, preset, PLACES);
  const { maxOutput } = preset;
  const isLowered = maxOutput !== null && Number(document.value[LIMIT] ?? 0) > maxOutput;
  return success({
    entries: [
      ...entries,
      ...isLowered ? [[LIMIT, String(maxOutput)] as const] : [],
      ...instructionEntries(document, preset),
    ],
    values,
    lossy: isLowered ? [LIMIT] : [],
  });
}

function refuseMissing(preset: Preset, carrier: Carrier): Failed | null {
  const missing = (["top_k", "stop"] as const satisfies (keyof Parameters)[])
    .find((key) => preset.parameters[key] !== undefined);
  return missing === undefined ? null : carrier.refuse(parameterAt(preset, missing));
}

/** Returns the instructions of the client with those of a named model after them. */
export function instructionEntries(
  { value: { instructions = null } }: JsonDocument,
  { system }: Preset,
): readonly Entry[] {
  if (system === null || instructions !== null && typeof instructions !== "string") return [];
  return [["instructions", JSON.stringify(withAppended(instructions ?? "", system))]];
}
