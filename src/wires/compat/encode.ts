import type { ChatRequest } from "../chat_request.ts";
import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
  type Member,
  objectsIn,
} from "../../core/json/json.ts";
import { type Failed, type Result, success } from "../../core/failure/result.ts";
import { pushAll } from "../../core/push_all.ts";
import {
  changeMembers,
  type Edit,
  type Entry,
  parseElements,
  parseMembers,
  replaceValue,
  splice,
} from "../../formats/edit.ts";
import { hostNamed } from "../../data/hosts.ts";
import type { Optional } from "../../prompt/refusals.ts";
import type { Carrier } from "../../prompt/carry.ts";
import { encodeByPrompt, newTargetCarrier } from "../prompt_encoder.ts";
import { newStrictSchemas } from "../verified/strict_schemas.ts";
import { adaptToHost, type LostPlace } from "./adapt_to_host.ts";
import { promiseChanged, type StrictFunction } from "./changed_schemas.ts";
import { BRIDGED_FIELDS } from "./fields.ts";
import { foldSystemText } from "./fold_text.ts";
import { type ChatPreset, loweredLimits, presetChat, systemEdits } from "./preset_chat.ts";
import { newPayload } from "../payload.ts";
import { samplingDefaults } from "../sampling.ts";
import type { Encoding, Target, UpstreamRequest } from "../wire.ts";

/**
 * Returns the client's document with only the necessary edits: as the profile of the provider wants
 * it, and with system messages where the provider expects them.
 */
export function encode(given: ChatRequest, target: Target): Result<UpstreamRequest> {
  const { settings } = target.provider;
  if (needsBridge(given.document.value, settings)) {
    return encodeByPrompt(given, { ...target, wire: { ...target.wire, fields: BRIDGED_FIELDS } });
  }
  const carrier = newTargetCarrier(target);
  // Most hosts have no profile, and take system messages anywhere.
  if (settings.compatibility_profile === undefined && settings.system_messages !== "leading") {
    return success(encoded(given, given.document, target, carrier));
  }
  const adapted = adaptToHost(
    {
      document: given.document,
      storedAt: (message) => given.reasoning?.get(message) ?? null,
      pathOf,
      lose: carrier.drop,
    },
    target,
    carrier,
  );
  if (!adapted.ok) return adapted;
  const { numbered, strict = [] } = adapted.value;
  const refused = promiseFunctions(given, strict, { target, carrier });
  if (refused !== null) return refused;
  const isFolded = settings.system_messages === "leading";
  const document = isFolded
    ? foldSystemText(adapted.value.document, carrier)
    : adapted.value.document;
  return success({
    ...encoded(given, document, target, carrier),
    ...numbered !== undefined && { numbered },
  });
}

/** True for a request with custom tools to a host of a profile, which has none. */
function needsBridge(
  { tools, tool_choice: choice, messages }: JsonObject,
  { compatibility_profile: name, capabilities }: Target["provider"]["settings"],
): boolean {
  if (capabilities.custom_tools || hostNamed(name ?? "")?.profile === undefined) return false;
  const isCustom = (value: JsonValue) => isObject(value) && value.type === "custom";
  const hasCustom = (list: Optional) => Array.isArray(list) && list.some(isCustom);
  return hasCustom(tools) || isCustom(choice ?? null) ||
    objectsIn(messages).some(({ tool_calls: calls }) => hasCustom(calls));
}

/** Returns the request with the document that the host gets. */
function encoded(
  given: ChatRequest,
  document: JsonDocument,
  target: Target,
  carrier: Carrier,
): UpstreamRequest {
  const preset = presetChat(document, target);
  loweredLimits(given.document, target).forEach(carrier.drop);
  let known: readonly Edit[] | null = null;

  // The edits are made when the request is sent: most prepared targets are never called.
  function edits(): readonly Edit[] {
    if (known !== null) return known;
    const edits = topLevelEdits(given, document, { target, preset });
    pushAll(edits, developerEdits(document, target));
    pushAll(edits, systemEdits(document, target));
    return known = edits;
  }

  return {
    method: "POST",
    path: "/chat/completions",
    payload: newPayload(
      () => splice(document.text, edits()),
      () => edits().length === 0 ? document.bytes ?? null : null,
    ),
    ...carrier.done(),
  };
}

/** Promises what these strict functions require, whose schemas the host gets changed. */
function promiseFunctions(
  { document, schemas = newStrictSchemas() }: ChatRequest,
  strict: readonly number[],
  asked: Pick<Encoding, "target" | "carrier">,
): Failed | null {
  const functions = strict.flatMap((index) => strictFunction(document, index));
  const hasChoices = Number(document.value.n ?? 1) > 1;
  return promiseChanged(functions, asked.carrier.drop, { ...asked, schemas, hasChoices });
}

/** Returns the strict function of a client's request with its schema. */
function strictFunction({ value: { tools } }: JsonDocument, index: number): StrictFunction[] {
  const tool = Array.isArray(tools) ? tools[index] : undefined;
  const called = isObject(tool) ? tool.function : undefined;
  if (!isObject(called) || typeof called.name !== "string") return [];
  const path = `tools[${index}].function`;
  const field = "tools[function].function";
  const parameters = isObject(called.parameters) ? called.parameters : null;
  return [{
    name: { value: called.name, at: { field: `${field}.name`, path: `${path}.name` } },
    parameters: {
      value: parameters,
      at: { field: `${field}.parameters`, path: `${path}.parameters` },
    },
    strict: { value: true, at: { field: `${field}.strict`, path: `${path}.strict` } },
  }];
}

function pathOf(place: LostPlace): string {
  switch (place.kind) {
    case "member":
      return `messages[${place.message}].${place.name}`;
    case "call":
      return `messages[${place.message}].tool_calls[${place.call}]${
        place.name === undefined ? "" : `.${place.name}`
      }`;
    case "schema":
      return `tools[${place.tool}].function.parameters${place.below}`;
  }
}

function topLevelEdits(
  { stream, includeUsage }: ChatRequest,
  document: JsonDocument,
  { target, preset }: { readonly target: Target; readonly preset: ChatPreset },
): Edit[] {
  const { text, value, members } = document;
  const changes: Entry[] = [];
  if (value.model !== target.model) changes.push(["model", JSON.stringify(target.model)]);
  changes.push(...preset.entries);
  const body = target.named === undefined ? value : { ...value, ...preset.values };
  changes.push(...samplingDefaults(body, target.provider));
  if (stream && !includeUsage) changes.push(["stream_options", streamOptions(document)]);
  return changes.length === 0 ? [] : changeMembers(text.indexOf("{"), members, changes);
}

/**
 * Returns stream options that always request usage: the gateway counts it, and removes it from the
 * client's stream if the client did not request it.
 */
function streamOptions({ text, value, members }: JsonDocument): string {
  const options = members.find((member) => member.key === "stream_options");
  if (options === undefined || !isObject(value.stream_options)) return '{"include_usage":true}';
  const own = text.slice(options.start, options.end);
  return splice(own, changeMembers(0, parseMembers(own), [["include_usage", "true"]]));
}

function developerEdits({ text, value, members }: JsonDocument, target: Target): Edit[] {
  if (!target.provider.settings.normalize_developer_role) return [];
  const messages = members.find((member) => member.key === "messages");
  if (messages === undefined || !Array.isArray(value.messages)) return [];
  const isDeveloper = value.messages.map((one) => isObject(one) && one.role === "developer");
  if (!isDeveloper.includes(true)) return [];
  return parseElements(text, messages.start)
    .filter((_span, index) => isDeveloper[index])
    .map((span) => findRole(parseMembers(text, span.start)))
    .filter((role) => role !== undefined)
    .map((role) => replaceValue(role, '"system"'));
}

/** Returns the `role` member. Of a duplicate key the last one counts. */
function findRole(members: readonly Member[]): Member | undefined {
  return members.findLast((member) => member.key === "role");
}
