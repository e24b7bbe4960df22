import { type Item, newItemQueue } from "../../../src/api/generate/open_item.ts";
import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { messageOf } from "../../../src/core/failure/openai_error.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const FUNCTION: StreamEvent & { type: "tool_call" } = {
  type: "tool_call",
  index: 0,
  id: "c",
  name: "f",
};
const TEXT: StreamEvent = { type: "text", delta: "x" };

/** An item whose events are texts that start with its name. */
function named(name: string, isWhole = false): Item<string> {
  let held = "";
  const textOf = (event: StreamEvent) => "delta" in event ? event.delta : "";
  return {
    isWhole,
    hold(event) {
      held += textOf(event);
    },
    open: () => [`${name} opened with '${held}'`],
    push: (event) => [`${name} '${textOf(event)}'`],
    close: (isCut) => [`${name} ${isCut ? "cut" : "closed"}`],
  };
}

function queueOf(closesAtOnce = true) {
  return newItemQueue<string, Item<string>>({ closesAtOnce });
}

/** A queue with an open call, for which an item with one text waits. */
function waiting(closesAtOnce: boolean, isWhole = false) {
  const queue = queueOf(closesAtOnce);
  const called = queue.addCall(FUNCTION, () => named("call", isWhole));
  assert(called.ok);
  queue.add(named("text"));
  return { queue, events: queue.push(TEXT) };
}

function added(queue: ReturnType<typeof queueOf>, delta: string, index = 0): readonly string[] {
  const result = queue.addArguments({ type: "tool_arguments", index, delta });
  return result.ok ? result.value : [messageOf(result.failure)];
}

const STRAY = "The provider sent arguments for a tool call that is not open.";

Deno.test("an item is closed when the next one is opened", () => {
  const queue = queueOf();
  queue.add(named("first"));
  assertEquals(queue.push(TEXT), ["first opened with 'x'"]);
  assertEquals(queue.push(TEXT), ["first 'x'"]);
  queue.add(named("second"));
  assertEquals(queue.push(TEXT), ["first closed", "second opened with 'x'"]);
  assertEquals(queue.end(), ["second cut"]);
  assertEquals(queue.end(), []);
});

Deno.test("a later item waits until the arguments of the open call are complete", () => {
  const { queue, events } = waiting(true);
  assertEquals(events, []);
  assertEquals(added(queue, '{"a":'), [`call '{"a":'`]);
  assertEquals(queue.opened().length, 1);
  assertEquals(added(queue, "1}"), ["call '1}'", "call closed", "text opened with 'x'"]);
  assertEquals(queue.opened().length, 2);
});

Deno.test("a complete call stays open until the next event of a waiting item if it does not close at once", () => {
  const { queue } = waiting(false);
  assertEquals(added(queue, "{}"), ["call '{}'"]);
  assertEquals(queue.push(TEXT), ["call closed", "text opened with 'xx'"]);
});

Deno.test("a call with incomplete arguments is cut at the end, a complete one before others is not", () => {
  assertEquals(waiting(true).queue.end(), ["call cut", "text opened with 'x'", "text cut"]);
  const { queue } = waiting(false);
  added(queue, "{}");
  assertEquals(queue.end(), ["call closed", "text opened with 'x'", "text cut"]);
});

Deno.test("no item waits for the arguments of a whole call", () => {
  assertEquals(waiting(true, true).events, ["call closed", "text opened with 'x'"]);
});

Deno.test("a call whose arguments arrive with it is complete", () => {
  const queue = queueOf();
  const call = queue.addCall({ ...FUNCTION, arguments: "{}" }, () => named("call"));
  assert(call.ok);
  assertEquals(call.value, ["call opened with ''", "call '{}'"]);
  queue.add(named("text"));
  assertEquals(queue.push(TEXT), ["call closed", "text opened with 'x'"]);
  assertEquals(queue.countCalls(), 1);
});

Deno.test("a closed call takes white space only, an unknown call nothing", () => {
  const { queue } = waiting(true);
  added(queue, "{}");
  assertEquals(added(queue, " \n"), []);
  assertEquals(added(queue, "{"), [STRAY]);
  assertEquals(added(queue, "", 1), [STRAY]);
});

Deno.test("a later item waits for the end of a custom tool's input, which its text does not show", () => {
  const queue = queueOf();
  assert(queue.addCall({ ...FUNCTION, kind: "custom" }, () => named("call")).ok);
  queue.add(named("text"));
  assertEquals(queue.push(TEXT), []);
  assertEquals(added(queue, "{}"), ["call '{}'"]);
  const last = queue.addArguments({ type: "tool_arguments", index: 0, delta: "!", isLast: true });
  assert(last.ok);
  assertEquals(last.value, ["call '!'", "call closed", "text opened with 'x'"]);
  const whole = queue.addCall(
    { ...FUNCTION, index: 1, kind: "custom", arguments: "a" },
    () => named("other"),
  );
  assert(whole.ok);
  queue.add(named("text"));
  assertEquals(queue.push(TEXT), ["other closed", "text opened with 'x'"]);
});
