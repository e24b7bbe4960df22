import { Cancellation } from "../../src/core/cancellation.ts";
import { newFairQueue } from "../../src/traffic/fair_queue.ts";
import { assertEquals } from "../support/assert.ts";

/** A queue, whose work is known by name, and the names of what has had its turn. */
function namedQueue(rankOf?: (client: string) => number | null) {
  const queue = newFairQueue(rankOf);
  const began: string[] = [], left: string[] = [];
  return {
    queue,
    began,
    left,
    push(client: string, name: string, cancellation: Cancellation | null = null, isFirst = false) {
      queue.push({ client, cancellation, isFirst }, (hasTurn) => {
        (hasTurn ? began : left).push(name);
      });
    },
  };
}

Deno.test("turns go round among the clients, and are in order of arrival for each of them", () => {
  const { queue, began, push } = namedQueue();
  for (let at = 0; at < 100; at++) push("many", `many ${at}`);
  for (const name of ["ada 0", "bob 0", "ada 1"]) push(name.slice(0, 3), name);
  const clients = Array.from({ length: 6 }, () => queue.shift());
  assertEquals(clients, ["many", "ada", "bob", "many", "ada", "many"]);
  assertEquals(began, ["many 0", "ada 0", "bob 0", "many 1", "ada 1", "many 2"]);
  assertEquals(queue.size, 97);
});

Deno.test("a client that comes again after each turn has every second one", () => {
  const { queue, push } = namedQueue();
  for (let at = 0; at < 10; at++) push("many", "");
  push("ada", "");
  const clients = Array.from({ length: 6 }, () => {
    const client = queue.shift();
    if (client === "ada") push("ada", "");
    return client;
  });
  assertEquals(clients, ["many", "ada", "many", "ada", "many", "ada"]);
});

Deno.test("first work of a client goes before its other work, and not before that of other clients", () => {
  const { queue, began, push } = namedQueue();
  for (const name of ["ada 0", "bob 0"]) push(name.slice(0, 3), name);
  for (const at of [1, 2]) push("ada", `ada first ${at}`, null, true);
  while (queue.size > 0) queue.shift();
  assertEquals(began, ["ada first 1", "bob 0", "ada first 2", "ada 0"]);
});

Deno.test("cancelled work leaves the queue at once, and its client with its last work", () => {
  const { queue, began, left, push } = namedQueue();
  const gone = new Cancellation();
  push("ada", "ada 0", gone);
  push("ada", "ada 1", gone, true);
  push("bob", "bob 0", gone);
  push("bob", "bob 1");
  gone.clientDisconnected();
  assertEquals([queue.size, left], [1, ["ada 0", "ada 1", "bob 0"]]);
  assertEquals([queue.shift(), queue.shift()], ["bob", null]);
  push("ada", "late", gone);
  assertEquals([queue.size, began, left.at(-1)], [0, ["bob 1"], "late"]);
});

Deno.test("work that is cancelled after its turn has not left the queue", () => {
  const { queue, began, left, push } = namedQueue();
  const cancellation = new Cancellation();
  push("ada", "ada", cancellation);
  queue.shift();
  cancellation.clientDisconnected();
  assertEquals([began, left, queue.size], [["ada"], [], 0]);
});

Deno.test("the client of the lowest rank is next, and one without a rank waits", () => {
  const ranks: Record<string, number | null> = { ada: 2, bob: null, cy: 1, dan: 1 };
  const { queue, push } = namedQueue((client) => ranks[client] ?? null);
  for (const client of Object.keys(ranks)) push(client, client);
  const order = Array.from({ length: 4 }, () => queue.shift());
  assertEquals([...order, queue.size], ["cy", "dan", "ada", null, 1]);
});

Deno.test("a turn looks at one client, however many wait", () => {
  let ranked = 0;
  const { queue, push } = namedQueue(() => ranked++ * 0);
  for (let at = 0; at < 1_000; at++) push(`${at % 250}`, "");
  for (let at = 0; at < 1_000; at++) queue.shift();
  assertEquals([ranked, queue.size], [1_000, 0]);
});
