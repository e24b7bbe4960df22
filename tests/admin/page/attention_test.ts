import type { Snapshot } from "../../../src/admin/snapshot.ts";
import { AT_MS, BUSY, finishedCall } from "../../support/admin_snapshots.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { assertNoErrors, browserTest, type TestPage } from "../../support/browser.ts";
import { serveScripted } from "../../support/scripted_admin.ts";
import { leaveList } from "./finished_list.ts";
import { drawnTest, IS_DRAWN } from "./drawn_page.ts";

/** Returns a later snapshot, in which all finished calls are other ones. */
function later(generation: number, first: number): Snapshot {
  const finished = Array.from({ length: 100 }, (_, at) => finishedCall(first + 99 - at));
  return { ...BUSY, seconds: [], generation, finishedCount: first + 99, finished };
}

async function untilGeneration(shown: TestPage, generation: number): Promise<void> {
  await shown.until(
    `document.querySelector("#facts").innerText.includes("generation ${generation}")`,
  );
}

drawnTest(
  "what a person has typed into the forms of the admin page remains with each snapshot",
  BUSY,
  async (shown, admin) => {
    const typed = new Map([
      ["#explain [name=model]", "my-model"],
      ["#explain [name=path]", "/v1/embeddings"],
      ["#explain [name=provider]", "spare"],
      ["#explain [name=headers]", "X-Team: blue"],
      ["#try [name=url]", "http://127.0.0.1:9"],
      ["#try [name=key]", "some-key"],
      ["#try [name=model]", "other-model"],
      ["#try [name=message]", "Good morning."],
    ]);
    for (const [selector, text] of typed) {
      await shown.page.click(selector, { count: 3 });
      await shown.page.keyboard.type(text);
    }
    await shown.page.click("#try [name=stream]");
    admin.send({ ...BUSY, seconds: [], generation: 77 });
    await untilGeneration(shown, 77);
    const values = await shown.value(
      `${JSON.stringify([...typed.keys()])}.map((one) => document.querySelector(one).value)`,
    );
    assertEquals(values, [...typed.values()]);
    assertEquals(await shown.value(`document.querySelector("#try [name=stream]").checked`), false);
  },
);

drawnTest(
  "the list of finished calls does not move while a row has the focus or selected text",
  BUSY,
  async (shown, admin) => {
    const focused = `document.activeElement.getAttribute("aria-label")`;
    await shown.page.focus('[aria-label^="Timeline of call 7582,"]');
    admin.send(later(101, 8000));
    await untilGeneration(shown, 101);
    assertMatch(await shown.value<string>(`String(${focused})`), /^Timeline of call 7582,/);
    assertMatch(await shown.text("#calls .row"), /holds still while you read it, 516 newer/);
    await shown.page.focus("#explain button");
    admin.send(later(102, 9000));
    await untilGeneration(shown, 102);
    const isNew = (number: number) =>
      shown.value(`document.querySelector('[aria-label^="Timeline of call ${number},"]') !== null`);
    assertEquals(await isNew(9099), true);
    await shown.value(
      `getSelection().selectAllChildren(document.querySelector("#calls button.link").closest("tr"))`,
    );
    const selected = await shown.value<string>("String(getSelection())");
    assert(selected.includes("/v1/chat/completions"), selected);
    admin.send(later(103, 10_000));
    await untilGeneration(shown, 103);
    assertEquals(await shown.value("String(getSelection())"), selected);
    await shown.value("getSelection().removeAllRanges()");
    admin.send(later(104, 11_000));
    await untilGeneration(shown, 104);
    assertEquals(await isNew(11_099), true);
  },
);

drawnTest(
  "the list does not move while a call is open, whose timeline gives the focus back to its row",
  BUSY,
  async (shown, admin) => {
    await shown.page.focus('[aria-label^="Timeline of call 7582,"]');
    await shown.page.keyboard.press("Enter");
    await shown.until(`document.activeElement.id === "timeline-title"`);
    await shown.page.focus("#explain button");
    admin.send(later(101, 8000));
    await untilGeneration(shown, 101);
    const rows = `[...document.querySelectorAll("#finished tr.call")]`;
    const following = `${rows}.at(1).nextElementSibling.querySelector("#timeline") !== null`;
    assertEquals(await shown.value(following), true, "the timeline is under its row");
    await shown.page.keyboard.press("Escape");
    await shown.until(`document.querySelector("#timeline") === null`);
    assertMatch(
      await shown.value("document.activeElement.getAttribute('aria-label')"),
      /^Timeline of call 7582,/,
    );
    await shown.page.focus("#explain button");
    admin.send(later(102, 9000));
    await untilGeneration(shown, 102);
    await shown.until(`document.querySelector('[aria-label^="Timeline of call 9099,"]') !== null`);
  },
);

drawnTest(
  "the list holds still under the pointer, and a click anywhere in a row opens its call",
  BUSY,
  async (shown, admin) => {
    const numbers =
      `[...document.querySelectorAll("#finished tr.call button")].map((one) => one.ariaLabel.match(/\\d+/)[0])`;
    const before = await shown.value<string[]>(numbers);
    await shown.page.hover("#finished tr.call:nth-child(3) td:last-child");
    admin.send(later(101, 8000));
    await untilGeneration(shown, 101);
    assertEquals(await shown.value(numbers), before);
    await shown.page.click("#finished tr.call:nth-child(3) td:last-child");
    await shown.until(`document.querySelector("#timeline") !== null`);
    assertMatch(await shown.text("#timeline"), /not sent[^]*circuit_open/);
    await shown.page.click("#finished tr.call:nth-child(3) td:last-child");
    await shown.until(`document.querySelector("#timeline") === null`);
    await leaveList(shown);
    admin.send(later(102, 9000));
    await untilGeneration(shown, 102);
    assertEquals((await shown.value<string[]>(numbers))[0], "9099");
  },
);

drawnTest("text of a row that is selected with the pointer opens nothing", BUSY, async (shown) => {
  await shown.page.click("#finished tr.call .name", { count: 2 });
  await shown.until("String(getSelection()).length > 0");
  // The first click of the two opens the call, and the second one selects a word.
  await shown.page.keyboard.press("Escape");
  await shown.page.click("#finished tr.call .name", { count: 3 });
  assert((await shown.value<string>("String(getSelection())")).length > 0);
});

drawnTest(
  "a call of a restarted gateway with the number of the selected one is another call",
  BUSY,
  async (shown, admin) => {
    await shown.page.click('[aria-label^="Timeline of call 7582,"]');
    await shown.until(`document.querySelector("#timeline") !== null`);
    await leaveList(shown);
    const access = { ...finishedCall(7582).access, session: "after-restart" };
    const finished = [finishedCall(7582, { endedAtMs: AT_MS + 60_000, access })];
    admin.send({ ...BUSY, seconds: [], generation: 201, finished });
    await untilGeneration(shown, 201);
    const other = '[aria-label="Timeline of call 7582, ended at 12:01:00"]';
    await shown.until(
      `document.querySelector('${other}')?.getAttribute("aria-expanded") === "false"`,
    );
    await shown.page.click(other);
    await shown.until(`document.querySelector("#timeline").innerText.includes("after-restart")`);
  },
);

browserTest("many providers, routes and keys scroll within their tables", async (browser) => {
  const many = <T extends object>(one: T, name: string) =>
    Array.from({ length: 200 }, (_, at) => ({ ...one, [name]: `${name}-${at}` }));
  const [provider] = BUSY.providers, [route] = BUSY.routes, [key] = BUSY.keys;
  assert(provider !== undefined && route !== undefined && key !== undefined);
  await using admin = serveScripted({
    ...BUSY,
    providers: many(provider, "id"),
    routes: many(route, "name"),
    keys: many(key, "name"),
  });
  const shown = await browser.open(admin.url);
  await shown.until(IS_DRAWN);
  const heights = await shown.value<number[]>(
    `["providers", "routes", "keys"].map((one) => document.querySelector("#" + one + " .scroll").clientHeight)`,
  );
  assert(heights.every((height) => height <= 26 * 16), `${heights}`);
  // A row that is scrolled to by the keyboard is not under the head of its table.
  const covered = await shown.value<boolean>(`(() => {
    const buttons = [...document.querySelectorAll("#calls button.link")];
    buttons.at(-1).focus();
    buttons[4].scrollIntoView({ block: "start" });
    const head = buttons[4].closest("table").tHead.getBoundingClientRect();
    return buttons[4].getBoundingClientRect().top < head.bottom;
  })()`);
  assertEquals(covered, false);
  assertNoErrors(shown);
});

drawnTest(
  "a request for the reason of a lost connection that hangs is ended by the next connection",
  BUSY,
  async (shown, admin) => {
    await shown.value(`(() => {
    globalThis.signals = [];
    globalThis.fetch = (_url, { signal }) => {
      globalThis.signals.push(signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
  })()`);
    admin.endStreams();
    await shown.until(
      `document.querySelector("[role=status]").innerText.includes("connection lost")`,
    );
    await shown.until(`/^\\s*live\\s*$/.test(document.querySelector("[role=status]").innerText)`);
    assertEquals(await shown.value("globalThis.signals.map(({ aborted }) => aborted)"), [true]);
  },
);

browserTest(
  "the timeline has every field of the access line",
  async (browser) => {
    const [call] = BUSY.finished;
    assert(call !== undefined);
    const access = { ...call.access, provider_key: "spare", key_team: "blue", cost_unknown: true };
    await using admin = serveScripted({ ...BUSY, finished: [{ ...call, access }] });
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    await shown.page.click(`[aria-label^="Timeline of call ${call.number},"]`);
    await shown.page.click("#timeline summary");
    const rows = await shown.value<string[]>(
      `[...document.querySelectorAll("#timeline details tbody tr")].map((row) => [...row.cells].map((cell) => cell.innerText).join("="))`,
    );
    assertEquals(rows, Object.entries(access).map(([name, value]) => `${name}=${value}`));
    assertNoErrors(shown);
  },
);

drawnTest(
  "a page of a gateway that has another version or address now says that it must be loaded again",
  BUSY,
  async (shown, admin) => {
    const hasNote = `document.querySelector("header").innerText.includes("Load the page again.")`;
    admin.send({ ...BUSY, seconds: [], generation: 77 });
    await untilGeneration(shown, 77);
    assertEquals(await shown.value(hasNote), false);
    admin.send({ ...BUSY, seconds: [], version: "9.9.9" });
    await shown.until(hasNote);
    admin.send({ ...BUSY, seconds: [], gatewayUrl: "http://127.0.0.1:9999" });
    await untilGeneration(shown, BUSY.generation);
    await shown.until(
      `${hasNote} && !document.querySelector("header").innerText.includes("9.9.9")`,
    );
  },
);
