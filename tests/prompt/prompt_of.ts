import { parseDocument } from "../../src/formats/document.ts";
import { newCarrier } from "../../src/prompt/carry.ts";
import { parsePrompt } from "../../src/prompt/chat/parse_prompt.ts";
import type { Prompt } from "../../src/prompt/prompt.ts";
import { wires } from "../../src/wires/registry.ts";
import type { Wire } from "../../src/wires/wire.ts";
import { providerOf, valueOf, type Written } from "../support/translated.ts";

/** The prompt of a Chat request, as a wire whose provider has these settings gets it. */
export function promptOf(
  chat: Written,
  { wire = wires.responses, settings = {} }: {
    readonly wire?: Wire;
    readonly settings?: Written;
  } = {},
): Prompt {
  const document = valueOf(parseDocument(JSON.stringify(chat)));
  const carrier = newCarrier({ fields: wire.fields, provider: providerOf(wire, settings) });
  return valueOf(parsePrompt({ document, stream: chat.stream === true }, carrier));
}
