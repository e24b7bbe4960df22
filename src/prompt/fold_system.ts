import type { Carrier } from "./carry.ts";
import { textContent, textPart } from "./content.ts";
import type { Instruction, Message, Part, Prompt, UserTurn } from "./prompt.ts";

/** Line before the text of an instruction inside a message of the user. */
const MARK = "[system]\n";

/**
 * Returns the prompt with each instruction behind the first other message as a part of the user
 * message next to it, at its place. Chat templates of some models allow only one system message, at
 * the head.
 */
export function foldSystem(prompt: Prompt, carrier: Carrier): Prompt {
  const { messages } = prompt;
  const begin = messages.findIndex(({ kind }) => kind !== "instruction");
  const folded = messages.filter(({ kind }, index) => kind === "instruction" && index > begin);
  if (begin < 0 || folded.length === 0) return prompt;
  for (const { at } of folded) carrier.lose(`${at.path}.role`);
  const list: (Message | OpenTurn)[] = [];
  let waiting: OpenTurn | null = null;

  for (const [index, message] of messages.entries()) {
    const last = list.at(-1);
    if (message.kind === "instruction" && index > begin) {
      if (waiting === null && last?.kind === "open" && last.user !== null) last.after.push(message);
      else (waiting ??= newOpenTurn(null)).before.push(message);
    } else if (message.kind === "user") {
      list.push({ ...newOpenTurn(message), before: waiting?.before ?? [] });
      waiting = null;
    } else {
      // The results of calls must follow their message.
      if (waiting !== null && message.kind !== "result") {
        list.push(waiting);
        waiting = null;
      }
      list.push(message);
    }
  }
  if (waiting !== null) list.push(waiting);
  return { ...prompt, messages: list.map((one) => one.kind === "open" ? closeTurn(one) : one) };
}

/**
 * A message of the user with the instructions before and after it; null if it has only
 * instructions.
 */
interface OpenTurn {
  readonly kind: "open";
  readonly user: UserTurn | null;
  readonly before: Instruction[];
  readonly after: Instruction[];
}

function newOpenTurn(user: UserTurn | null): OpenTurn {
  return { kind: "open", user, before: [], after: [] };
}

function closeTurn({ user, before, after }: OpenTurn): UserTurn {
  const first = before[0]?.at ?? { field: "messages[user]", path: "" };
  const { at, content, cache } = user ?? {
    at: { ...first, field: "messages[user]" },
    content: { at: first, isString: true, parts: [] },
    cache: null,
  };
  const parts = [...before.map(markedPart), ...content.parts, ...after.map(markedPart)];
  const text = parts.map((part) => part.kind === "text" ? part.text : "").join("\n\n");
  const folded = content.isString ? textContent(text, content.at) : { ...content, parts };
  return { kind: "user", at, cache, content: folded };
}

function markedPart({ at, content }: Instruction): Part {
  const text = content.parts.map((part) => part.kind === "text" ? part.text : "").join("");
  return textPart(MARK + text, at);
}
