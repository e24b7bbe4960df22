import { assert } from "../../support/assert.ts";
import { answers } from "../../support/chat_call.ts";
import { limitedGateway } from "../../support/limited_gateway.ts";
import { type Attempt, LIMITS, providers, request, type Script } from "./operations.ts";
import { type Counts, DELIVERED, largeText, type Shape, TEXTS, tooLarge, ZERO } from "./shape.ts";
import { SHAPES } from "./shapes.ts";
import { chargesOf } from "./sums.ts";
import { newStream } from "./written_stream.ts";

/** Usage of one attempt so far. */
interface Reported {
  counts: Counts | null;
  /** True if the provider has not reported the last counts. */
  isPartial: boolean;
  /** True if the client has had text whose tokens are estimated without counts. */
  hasText: boolean;
}

/** Shapes of the operations whose text is estimated. */
const ESTIMATED: readonly string[] = ["compat", "messages", "responses", "local", "completions"];

const JSON_TYPE = { "content-type": "application/json" };

/** Runs a script against a gateway in a scripted world. */
export async function runScript(script: Script) {
  const { operation, end, last, isRepeated, zeros } = script;
  const { contentType, isInputOnly, hasCached, ...shape }: Shape = SHAPES[operation.shape];
  const parts = script.stream ? shape.stream : null;
  const other = script.hasOther && parts !== null ? parts.other : "";
  const early = zeros === "early" && parts !== null ? parts.early : "";
  const waiting = [...script.attempts];
  const reported: Reported[] = [];
  let current: { readonly body: ReturnType<typeof newStream>; readonly reported: Reported } | null =
    null;
  let isLast = false;
  let isGone = false;
  const gateway = limitedGateway(LIMITS, {
    providers: providers(script),
    async fetch(_url, { body, signal }) {
      await new Response(body ?? "").text();
      const attempt = waiting.shift();
      const one: Reported = { counts: null, isPartial: false, hasText: false };
      reported.push(one);
      if (attempt !== undefined) return await failing(attempt, one, signal);
      isLast = true;
      if (end === "left waiting") {
        one.isPartial = true;
        await new Promise((_, reject) =>
          signal?.addEventListener("abort", () => reject(new TypeError("aborted")))
        );
      }
      if (parts === null) {
        one.counts = countsOf(last);
        const text = JSON.stringify(shape.whole(one.counts, "object"));
        return await answers(200, end === "too large" ? tooLarge(text) : text, JSON_TYPE);
      }
      one.isPartial = true;
      current = { body: newStream(signal, contentType), reported: one };
      return current.body.response;
    },
  });
  const { world } = gateway;

  function countsOf({ input, output, cached }: Counts): Counts {
    return {
      input,
      output: isInputOnly === true ? 0 : output,
      cached: hasCached ? Math.min(cached, input) : 0,
    };
  }

  /** Returns the records with the counts, which may not become less by later ones. */
  function reportOf(counts: Counts): string {
    return parts === null
      ? ""
      : parts.counts(counts) + (zeros === "late" ? parts.counts(ZERO) : "");
  }

  /** Returns the least counts of a text of which only the first counts are known, if they are. */
  function textCounts(known: Counts | null): Counts | null {
    if (known === null || Object.keys(operation.promise).length === 0) return known;
    return { ...known, output: Math.ceil(TEXTS.text.length / 4) };
  }

  /** Responds to an attempt that fails, if the gateway notices. */
  async function failing(
    attempt: Attempt,
    one: Reported,
    signal: AbortSignal | null | undefined,
  ): Promise<Response> {
    const counts = countsOf(attempt);
    const { end } = attempt;
    if (end === "refused") return await answers(429, { error: { message: "no", code: "limit" } });
    if (end === "silent") {
      return await new Promise((_, reject) =>
        signal?.addEventListener("abort", () => {
          one.isPartial = isGone;
          reject(new TypeError("aborted"));
        })
      );
    }
    const isWhole = end === "status" || end === "accepted" || end.startsWith("not streamed");
    if (isWhole || parts === null) {
      one.counts = counts;
      const form = end === "unusable" || end === "error"
        ? "unusable"
        : end.startsWith("promise")
        ? "text"
        : "object";
      const status = end === "status" ? 503 : end === "accepted" ? 202 : 200;
      const whole = shape.whole(counts, form);
      // Each line of the local protocol is a record.
      const isLines = script.operation.wire === "local";
      const text = end === "not streamed, large"
        ? largeText(whole, isLines ? "one" : "many")
        : JSON.stringify(whole);
      return await answers(status, end === "too large" ? tooLarge(text) : text, JSON_TYPE);
    }
    const body = newStream(signal, contentType);
    body.write(parts.head(counts));
    one.counts = parts.headCounts(counts);
    if (end === "error") {
      if (body.write(parts.error(counts))) one.counts = counts;
      body.close();
    } else {
      if (end === "too large") body.write(tooLarge(parts.content("object")));
      else body.write(parts.content(end.startsWith("promise") ? "text" : "unusable"));
      // Providers send their counts some time after the text.
      const isTooLate = end === "promise, too late counts";
      if (isTooLate) one.counts = textCounts(one.counts);
      world.after(isTooLate ? 5_001 : 10, () => {
        body.write(parts.finish);
        body.write(other);
        if (body.write(reportOf(counts))) one.counts = counts;
        else if (isTooLate) one.isPartial = true;
        else assert(isGone, "the gateway did not wait for the counts of a failed attempt");
        if (one.counts !== counts) {
          one.isPartial ||= isGone && (one.counts === null || end === "promise");
        }
        body.write(parts.terminal);
        body.close();
      });
    }
    return body.response;
  }

  async function play(): Promise<void> {
    const client = new AbortController();
    const responding = gateway.app(request(script, client.signal));
    if (end === "left within an attempt") {
      await world.advance(5);
      isGone = true;
      client.abort();
      const leaving = responding.then(({ body }) => body?.cancel());
      await world.advance(10_000);
      return await leaving;
    }
    let isOver = false;
    void responding.then(() => isOver = true);
    while (!isLast && !isOver) await world.advance(100);
    await world.advance(0);
    if (end === "left waiting" && isLast) {
      client.abort();
      await world.advance(0);
    }
    if (current === null) {
      // An attempt that began last has its time to report.
      await world.advance(100);
      await (await responding).body?.cancel();
      await world.advance(0);
      return;
    }
    await finish(current, { client, responding });
    await world.advance(10_000);
  }

  /** Plays the stream of the last attempt, and reads it or leaves as the script says. */
  async function finish(
    { body, reported: one }: NonNullable<typeof current>,
    { client, responding }: { client: AbortController; responding: Promise<Response> },
  ): Promise<void> {
    assert(parts !== null);
    const counts = countsOf(last);
    body.write(parts.head(counts));
    one.counts = parts.headCounts(counts);
    one.isPartial = end !== "left after head" || one.counts === null;
    // A stream that has not shown its end need not be read after its client has left.
    const mayStop = end.endsWith("too late counts") ||
      (end.startsWith("left") && parts.finish === "");
    const tell = (text: string) => {
      const isRead = body.write(text);
      assert(isRead || mayStop, "the gateway did not wait for the counts");
      if (!isRead) return;
      one.counts = counts;
      one.isPartial = false;
    };
    await world.advance(0);
    if (end === "left after head") {
      client.abort();
      await world.advance(0);
      await (await responding).body?.cancel();
      return;
    }
    body.write(early + parts.content(end === "stopped" ? "stopped" : "object"));
    await world.advance(0);
    if (end === "left without reading") {
      // Both writes wait for the client, and the stream with them.
      await world.advance(10);
      body.write(parts.finish + other);
      await world.advance(10);
      const leaving = (await responding).body?.cancel();
      await world.advance(4_900);
      tell(reportOf(counts));
      body.write(parts.terminal);
      body.close();
      await world.advance(0);
      return await leaving;
    }
    const reader = (await responding).body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let read = ""; !read.includes(DELIVERED);) {
      const { done, value } = await reader?.read() ?? { done: true, value: undefined };
      assert(!done, `the stream ended with ${read}`);
      read += value;
    }
    one.hasText = ESTIMATED.includes(operation.shape);
    const read = async () => {
      for (let done = false; !done && reader !== undefined;) done = (await reader.read()).done;
    };
    if (end === "left after content") return await reader?.cancel();
    if (end === "cut before counts") {
      body.fail();
      return await read();
    }
    if (end === "error after content") {
      tell(parts.error(counts));
      body.close();
      return await read();
    }
    if (end === "too large") {
      const reading = read();
      tell(tooLarge(parts.counts(counts)));
      body.write(parts.terminal);
      body.close();
      return await reading;
    }
    if (end === "unusable after content") {
      body.write(parts.content("unusable"));
      const reading = read();
      await world.advance(100);
      tell(reportOf(counts));
      body.write(parts.terminal);
      body.close();
      return await reading;
    }
    if (end === "stopped") {
      const reading = read();
      await world.advance(100);
      body.write(parts.finish + other);
      await world.advance(100);
      tell(reportOf(counts));
      body.write(parts.terminal);
      body.close();
      return await reading;
    }
    body.write(parts.finish + other);
    await world.advance(0);
    if (end.startsWith("left after finish")) {
      const leaving = reader?.cancel();
      await world.advance(
        end.endsWith("too late counts") ? 5_001 : end.endsWith("late counts") ? 4_999 : 0,
      );
      tell(reportOf(counts));
      body.write(parts.terminal);
      body.close();
      await world.advance(0);
      return await leaving;
    }
    tell(reportOf(counts));
    await world.advance(0);
    if (end === "left after counts") return await reader?.cancel();
    if (end === "cut after counts") body.fail();
    else {
      body.write(parts.terminal);
      if (end === "left after the last byte") {
        await world.advance(0);
        return await reader?.cancel();
      }
      body.close();
    }
    await read();
  }

  await play();
  if (isRepeated && script.attempts.length === 0 && end === "complete") await play();
  await world.advance(10_000);
  return { ...await chargesOf(gateway), reported };
}
