import { type Attack, many, oneProvider, outcomeOf, send, sendOk } from "./support.ts";

const READ_COUNT = 60;

/** Items of the read response; each with 600 characters it is a body of 6 MB. */
const ITEM_COUNT = 9_900, ITEM_CHARS = 600;

/** Responses in which one ID has a different item at each place: 39,000 in all. */
const REPEATED_COUNT = 4, REPEATED_ITEM_COUNT = 9_750;

/** Items of one created response, near `state.max_items`, and their number at once. */
const CREATED_ITEM_COUNT = 9_900, CREATE_COUNT = 8;

const REPEATED_ID = "msg_repeated";

/** Responses that continue one of 9,900 items, and lookups of all of these items at once. */
const CONTINUED_COUNT = 100, LOOKUP_COUNT = 4;

type Load = Attack["load"];

function items<Named extends object>(
  count: number,
  chars: number,
  id: (at: number) => Named = () => ({} as Named),
) {
  return Array.from({ length: count }, (_, at) => ({
    ...id(at),
    type: "message",
    role: "user",
    content: `${at} ${crypto.randomUUID()} `.padEnd(chars, "x"),
  }));
}

function bodyOf(input: unknown, model = "sim-length"): string {
  return JSON.stringify({ model, input });
}

/** Creates a response of items that differ, and sends small reads of it together. */
const reads: Load = async ({ url }, times) => {
  const { text } = await sendOk(`${url}/v1/responses`, bodyOf(items(ITEM_COUNT, ITEM_CHARS)));
  const path = `${url}/v1/responses/${JSON.parse(text).id}`;
  const paths = [path, `${path}/input_items?limit=1`, `${path}/input_items?limit=100&order=asc`];
  return outcomeOf(
    await many(READ_COUNT * times, (at) => send(paths[at % paths.length] ?? path)),
  );
};

/** Stores one ID with many items, and refers to it in many requests. */
const references: Load = async ({ url }, times) => {
  for (let at = 0; at < REPEATED_COUNT; at++) {
    const input = items(REPEATED_ITEM_COUNT, 60, () => ({ id: REPEATED_ID }));
    await sendOk(`${url}/v1/responses`, bodyOf(input));
  }
  const body = bodyOf([{ type: "item_reference", id: REPEATED_ID }]);
  return outcomeOf(await many(READ_COUNT * times, () => send(`${url}/v1/responses`, body)));
};

/** Stores items that many responses have, and refers to all of them in each of some requests. */
const sharedItems: Load = async ({ url }, times) => {
  const input = items(CREATED_ITEM_COUNT, 40, (at) => ({ id: `msg_shared_${at}` }));
  // A response that was cut off at its length cannot be continued.
  const { text } = await sendOk(`${url}/v1/responses`, bodyOf(input, "sim-echo"));
  const previous_response_id = JSON.parse(text).id;
  const next = JSON.stringify({ model: "sim-echo", input: "go on", previous_response_id });
  for (let at = 0; at < CONTINUED_COUNT * times; at++) await sendOk(`${url}/v1/responses`, next);
  const body = bodyOf(input.map(({ id }) => ({ type: "item_reference", id })));
  return outcomeOf(await many(LOOKUP_COUNT, () => send(`${url}/v1/responses`, body)));
};

/** Batches of items of a large conversation, their items, and the characters of each. */
const BATCH_COUNT = 45, BATCH_ITEM_COUNT = 20, BATCH_ITEM_CHARS = 50_000;

/** Sends small requests for a conversation of 45 MB together. */
const conversation: Load = async ({ url }, times) => {
  const made = await sendOk(`${url}/v1/conversations`, "{}");
  const path = `${url}/v1/conversations/${JSON.parse(made.text).id}`;
  for (let at = 0; at < BATCH_COUNT; at++) {
    const added = items(BATCH_ITEM_COUNT, BATCH_ITEM_CHARS);
    await sendOk(`${path}/items`, JSON.stringify({ items: added }));
  }
  const requests: readonly (() => ReturnType<typeof send>)[] = [
    () => send(`${path}/items`, JSON.stringify({ items: items(1, 10) })),
    () => send(path, JSON.stringify({ metadata: { a: "b" } })),
    () => send(`${path}/items?limit=1`),
  ];
  return outcomeOf(
    await many(
      CONVERSATION_REQUEST_COUNT * times,
      (at) => (requests[at % 3] ?? (() => send(path)))(),
    ),
  );
};

const CONVERSATION_REQUEST_COUNT = 30;

/** Turns of a dialogue, and requests that continue its last one together. */
const TURN_COUNT = 400, BRANCH_COUNT = 100;

const branches: Load = async ({ url }, times) => {
  let previous = {};
  for (let at = 0; at < TURN_COUNT; at++) {
    const body = JSON.stringify({ model: "sim-echo", input: `turn ${at}`, ...previous });
    const { text } = await sendOk(`${url}/v1/responses`, body);
    previous = { previous_response_id: JSON.parse(text).id };
  }
  const branch = JSON.stringify({ model: "sim-echo", input: "go on", ...previous });
  return outcomeOf(await many(BRANCH_COUNT * times, () => send(`${url}/v1/responses`, branch)));
};

/** Creates responses of this many items together. */
function createsOf(count: number, itemCount: number): Load {
  return async ({ url }, times) =>
    outcomeOf(
      await many(
        count * times,
        () => send(`${url}/v1/responses`, bodyOf(items(itemCount, 60))),
      ),
    );
}

const creates = createsOf(CREATE_COUNT, CREATED_ITEM_COUNT);

function attack(
  row: string,
  size: Attack["size"],
  load: Load,
  store: "memory" | "sqlite" | "valkey" = "sqlite",
  settings: { readonly server?: object; readonly state?: object } = {},
): Attack {
  return {
    row,
    size,
    config: (upstream, folder) => ({
      ...oneProvider(`${upstream}/compat/v1`),
      ...settings.server !== undefined && { server: settings.server },
      state: {
        ...store === "sqlite" && { store, sqlite: { path: `${folder}/attack.db` } },
        ...settings.state,
      },
    }),
    isOverValkey: store === "valkey",
    load,
  };
}

/** Items of a response that is created over Valkey, above the default of `state.max_items`. */
const MANY_ITEM_COUNT = 60_000;

function createSize(times: number): string {
  return `${CREATE_COUNT * times} creates of 9,900 items`;
}

function sharedSize(times: number): string {
  return `${LOOKUP_COUNT} lookups of 9,900 items that ${CONTINUED_COUNT * times} responses have`;
}

/** Stored objects that cost more than the requests for them. */
export const storedObjects: readonly Attack[] = [
  attack("A6 reads", (times) => `${READ_COUNT * times} tiny GETs of 9,900 items`, reads),
  attack(
    "A6 references",
    (times) => `${READ_COUNT * times} references to an ID of 39,000 items`,
    references,
  ),
  attack("A6 shared items", sharedSize, sharedItems),
  attack("A6 shared items in memory", sharedSize, sharedItems, "memory"),
  attack(
    "A6 conversation",
    (times) => `${CONVERSATION_REQUEST_COUNT * times} tiny requests for a conversation of 45 MB`,
    conversation,
  ),
  attack(
    "A6 branches in memory",
    (times) => `${BRANCH_COUNT * times} continuations of a dialogue of ${TURN_COUNT} turns`,
    branches,
    "memory",
  ),
  attack("A6 creates", createSize, creates),
  attack("A6 creates in memory", createSize, creates, "memory"),
  attack("A6 creates over valkey", createSize, creates, "valkey"),
  attack(
    "A6 many items over valkey",
    (times) => `${times} creates of 60,000 items`,
    createsOf(1, MANY_ITEM_COUNT),
    "valkey",
    { server: { max_json_members: 1_000_000 }, state: { max_items: MANY_ITEM_COUNT + 10 } },
  ),
];
