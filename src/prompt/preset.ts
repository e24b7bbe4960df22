import { type Result, success } from "../core/failure/result.ts";
import { type Carrier, listedPath } from "./carry.ts";
import type { ChatField } from "./chat_fields.ts";
import { textContent } from "./content.ts";
import type { FieldRef, Given, GivenNumber, Limits, Message, Prompt } from "./prompt.ts";
import { allIn } from "./read.ts";

/** Parameters that a named model sets where a request does not. */
export interface Parameters {
  readonly effort?: string | undefined;
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly top_k?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly service_tier?: string | undefined;
  readonly verbosity?: string | undefined;
  readonly parallel_tool_calls?: boolean | undefined;
  readonly stop?: readonly string[] | undefined;
}

/** Members that a named model adds to the requests of its targets. */
export interface Preset {
  /** Name of the named model; with `*` it is a pattern. */
  readonly name: string;
  readonly parameters: Parameters;
  /** Maximum tokens of a response. */
  readonly maxOutput: number | null;
  /** Instructions after those of the client. */
  readonly system: string | null;
  /** True if responses have the requested name as their model. */
  readonly showsName: boolean;
}

/** A named model by which a target is requested. */
export interface NamedTarget {
  readonly preset: Preset;
  /** The name as requested; that of the named model if the client requests its route. */
  readonly name: string;
}

/** Row of the field tables for each parameter. */
const FIELDS = {
  effort: "reasoning_effort",
  temperature: "temperature",
  top_p: "top_p",
  top_k: "top_k",
  max_tokens: "max_completion_tokens",
  service_tier: "service_tier",
  verbosity: "verbosity",
  parallel_tool_calls: "parallel_tool_calls",
  stop: "stop",
} as const satisfies Readonly<Record<keyof Parameters, ChatField>>;

/** Returns the place of a parameter in the configuration, by which refusals name it. */
export function parameterAt({ name }: Pick<Preset, "name">, key: keyof Parameters): FieldRef {
  return { field: FIELDS[key], path: `models.${name}.parameters.${key}` };
}

/** Facts besides the prompt by which a named model changes it. */
export interface PresetFor {
  readonly carrier: Carrier;
  /** True for the Messages protocol, where thinking excludes sampling (extended thinking). */
  readonly isMessages: boolean;
}

/**
 * Returns a prompt with the parameters of a named model that the request does not set, a limit of
 * at most `max_output`, and its instructions. The carrier refuses a parameter that the wire cannot
 * carry.
 */
export function presetPrompt(prompt: Prompt, preset: Preset, target: PresetFor): Result<Prompt> {
  const { sampling, labels, thinking, tools, effort } = prompt;
  const thinks = target.isMessages && (thinking?.kind ?? "disabled") !== "disabled";
  const fill = newFill(preset, target.carrier);
  const read = allIn({
    effort: thinking?.kind === "disabled" ? success(effort) : fill("effort", effort, given),
    temperature: thinks
      ? success(sampling.temperature)
      : fill("temperature", sampling.temperature, number),
    topP: thinks ? success(sampling.topP) : fill("top_p", sampling.topP, number),
    topK: thinks ? success(sampling.topK) : fill("top_k", sampling.topK, number),
    limits: fillLimits(prompt.limits, fill),
    serviceTier: fill("service_tier", labels.serviceTier, given),
    verbosity: fill("verbosity", prompt.verbosity, given),
    parallelCalls: tools.length === 0
      ? success(prompt.parallelCalls)
      : fill("parallel_tool_calls", prompt.parallelCalls, given),
    stop: fill(
      "stop",
      prompt.stop,
      (texts, at) => ({ value: texts.map((value) => ({ value, at })), at }),
    ),
  });
  if (!read.ok) return read;
  const { temperature, topP, topK, serviceTier, limits, ...others } = read.value;
  return success({
    ...prompt,
    ...others,
    limits: cap(limits, preset, target.carrier),
    sampling: { ...sampling, temperature, topP, topK },
    labels: { ...labels, serviceTier },
    messages: withSystem(prompt.messages, preset),
  });
}

/** Returns the request's own value of a field, else that of the parameter. */
type Fill = <Key extends keyof Parameters, One>(
  key: Key,
  own: One | null,
  make: (value: NonNullable<Parameters[Key]>, at: FieldRef) => One,
) => Result<One | null>;

function newFill(preset: Preset, carrier: Carrier): Fill {
  return (key, own, make) => {
    const value = preset.parameters[key];
    if (own !== null || value === undefined) return success(own);
    const at = parameterAt(preset, key);
    const plain: Parameters[keyof Parameters] = value;
    return carrier.use(at, typeof plain === "object" ? undefined : plain) ??
      success(make(value, at));
  };
}

function given<Value>(value: Value, at: FieldRef): Given<Value> {
  return { value, at };
}

function number(value: number, at: FieldRef): GivenNumber {
  return { value, exact: value, at };
}

function fillLimits({ completion, legacy }: Limits, fill: Fill): Result<Limits> {
  const filled = legacy === null ? fill("max_tokens", completion, number) : success(completion);
  return filled.ok ? success({ completion: filled.value, legacy }) : filled;
}

/** Returns limits of at most `max_output`; each that is lowered is lossy. */
function cap({ completion, legacy }: Limits, { maxOutput }: Preset, carrier: Carrier): Limits {
  const lowered = (one: GivenNumber | null) => {
    if (one === null || maxOutput === null || one.value <= maxOutput) return one;
    carrier.lose(listedPath(one.at));
    return { ...one, value: maxOutput, exact: maxOutput };
  };
  return { completion: lowered(completion), legacy: lowered(legacy) };
}

/** Returns the messages with the instructions of a named model after those at their head. */
function withSystem(messages: readonly Message[], { name, system }: Preset): readonly Message[] {
  if (system === null) return messages;
  const head = messages.findIndex(({ kind }) => kind !== "instruction");
  const place = head < 0 ? messages.length : head;
  const isDeveloper = messages.some((one) =>
    one.kind === "instruction" && one.role === "developer"
  );
  const role = isDeveloper ? "developer" : "system";
  const at = { field: `messages[${role}]`, path: `models.${name}.system` } as const;
  const content = textContent(system, { ...at, field: "messages[system].content" });
  const added: Message = { kind: "instruction", role, at, content, cache: null };
  return [...messages.slice(0, place), added, ...messages.slice(place)];
}

/** Returns the end of the instructions of a Responses request that a named model adds. */
export function appendedText(system: string): string {
  return `\n\n${system}`;
}

/** Returns instructions of a client with those of a named model after them. */
export function withAppended(instructions: string, system: string): string {
  return instructions === "" ? system : instructions + appendedText(system);
}
