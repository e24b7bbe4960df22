import { assert, assertEquals } from "../support/assert.ts";
import { type HostSdk, type Loop, LOOPS, startHost } from "./host_loops.ts";

/** The word that the host accepts in place of a signature. */
const UNSIGNED = "skip_thought_signature_validator";

const THINKING = { thinking: { type: "enabled", budget_tokens: 1024 } };

const SEALING: Readonly<Record<string, readonly [loop: Loop, more: Parameters<Loop>[1]["more"]]>> =
  {
    messages: [LOOPS.messages, THINKING],
    responses: [LOOPS.responses, { include: ["reasoning.encrypted_content"] }],
  };

/** The last request to the host. */
function lastOf({ sent }: HostSdk): string {
  const last = sent.at(-1);
  assert(last !== undefined);
  return last;
}

for (const host of ["gemini", "openrouter"]) {
  // One model thinks aloud before its call, the other has no thinking text.
  for (const model of ["sim-recall", "sim-tools", "sim-tools-parallel"]) {
    for (const [api, [loop, more]] of Object.entries(SEALING)) {
      for (const stream of [false, true]) {
        Deno.test(`what ${host} signed comes back to ${model} from a client of ${api} after a restart, ${stream ? "streamed" : "whole"}`, async () => {
          await using sdk = startHost(host, `compatibility_profile: ${host}`);
          const between = () => sdk.restart();
          await loop(sdk, { stream, model, between, ...more !== undefined && { more } });
          assertEquals(lastOf(sdk).includes(UNSIGNED), false);
        });
      }
    }
  }
}
