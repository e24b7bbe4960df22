import fc from "fast-check";
import type { Bounds } from "../../../src/store/records/bounds.ts";
import type { RecordStore, RecordType } from "../../../src/store/records/record_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { type Step, testModel } from "./harness.ts";
import {
  bytes,
  change,
  commit,
  partOf,
  type RecordsUnderTest,
  testBounds,
  TTL_MS,
} from "./records.ts";

/** Types of records of the model, one for each way to make room. */
const BOUNDS = {
  response: { entries: 3, bytes: 120, room: "oldest" },
  reasoning: { entries: 4, bytes: 150, shareEntries: 2, shareBytes: 90, room: "oldest" },
  relayed_owner: { entries: 3, bytes: 120, room: "largest_share" },
} as const satisfies Partial<Record<RecordType, Bounds>>;

type ModelType = keyof typeof BOUNDS;

const IDS = ["a", "b", "c", "d", "e"] as const;
const PART_BYTES = 10;

interface Known {
  readonly id: string;
  readonly head: string;
  readonly size: number | null;
  readonly keys: readonly string[];
  readonly share: string;
  readonly ends: number;
  /** Set when the store was queried for it; undefined for a record that was changed since. */
  version: string | undefined;
}

/** Records of each type, the oldest first, and the creator for whom each part counts. */
interface Model {
  time: number;
  made: number;
  readonly records: Record<ModelType, Known[]>;
  readonly partShares: Record<ModelType, Map<string, string>>;
}

type RecordStep = Step<Model, RecordStore>;

function settleParts(model: Model, type: ModelType): void {
  const held = new Set(model.records[type].flatMap(({ keys }) => keys));
  for (const key of model.partShares[type].keys()) {
    if (!held.has(key)) model.partShares[type].delete(key);
  }
}

function expire(model: Model): void {
  for (const type of Object.keys(BOUNDS) as ModelType[]) {
    model.records[type] = model.records[type].filter(({ ends }) => model.time < ends);
    settleParts(model, type);
  }
}

function recordBytes({ id, head, size }: Known): number {
  return id.length + head.length + (size ?? 0);
}

/** Returns number and bytes of the records of a creator, or of all. */
function sizeOf(model: Model, type: ModelType, share?: string): { entries: number; bytes: number } {
  const isOwn = (of: string) => share === undefined || of === share;
  const records = model.records[type].filter((record) => isOwn(record.share));
  const parts = [...model.partShares[type].values()].filter(isOwn).length;
  const bytes = records.reduce((sum, record) => sum + recordBytes(record), 0);
  return { entries: records.length, bytes: bytes + PART_BYTES * parts };
}

function removeIn(model: Model, type: ModelType, record: Known | undefined): void {
  model.records[type] = model.records[type].filter((one) => one !== record);
  settleParts(model, type);
}

/** Removes records as the bounds demand, after a change of this record. */
function makeRoom(model: Model, type: ModelType, needing: Known): void {
  const bounds: Bounds = BOUNDS[type];
  const { shareEntries = Infinity, shareBytes = Infinity } = bounds;
  for (;;) {
    const own = sizeOf(model, type, needing.share);
    if (own.entries <= shareEntries && own.bytes <= shareBytes) break;
    const oldest = model.records[type].find((one) =>
      one !== needing && one.share === needing.share
    );
    if (oldest === undefined) break;
    removeIn(model, type, oldest);
  }
  for (;;) {
    const { entries, bytes } = sizeOf(model, type);
    if (entries <= bounds.entries && bytes <= bounds.bytes) break;
    const others = model.records[type].filter((one) => one !== needing);
    const [oldest] = others;
    if (bounds.room === "oldest") {
      removeIn(model, type, oldest);
      continue;
    }
    const of = entries > bounds.entries ? "entries" : "bytes";
    const sizes = others.map(({ share }) => ({ share, size: sizeOf(model, type, share)[of] }));
    const most = Math.max(...sizes.map(({ size }) => size));
    const largest = sizes.filter(({ size }) => size === most).map(({ share }) => share);
    const victim = largest.includes(needing.share) ? needing.share : largest[0];
    removeIn(model, type, others.find(({ share }) => share === victim));
  }
}

interface Put {
  readonly type: ModelType;
  readonly id: string;
  readonly share: string;
  readonly expected: "any" | "absent" | "current" | "stale";
  /** Bytes of the body; null for none, undefined to keep it. */
  readonly size: number | null | undefined;
  /** Keys of the parts, in capitals for parts without a body; undefined to keep them. */
  readonly keys: readonly string[] | undefined;
  readonly keepsAge: boolean;
}

function put({ type, id, share, expected, size, keys, keepsAge }: Put): RecordStep {
  return async (model, store) => {
    expire(model);
    const earlier = model.records[type].find((record) => record.id === id);
    const version = {
      any: "any",
      absent: null,
      current: earlier?.version ?? null,
      stale: "stale",
    }[expected];
    const head = `h${++model.made}`;
    const lifeMs = keepsAge && earlier !== undefined ? null : TTL_MS;
    const parts = keys?.map((key) => {
      const part = partOf(key.toLowerCase(), [`n-${key.toLowerCase()}`]);
      return key === key.toLowerCase() ? part : { ...part, body: null };
    });
    const result = await stored(store.commit([
      change(id, version, {
        head,
        share,
        lifeMs,
        ...size !== undefined &&
          { body: size === null ? null : { body: bytes(`of ${head}`), bytes: size } },
        ...parts !== undefined && { parts },
      }, type),
    ]));

    const isExpected = version === "any" || (earlier?.version ?? null) === version;
    if (!isExpected) return assertEquals(result, { kind: "changed" });
    const shares = model.partShares[type];
    const missing = parts?.filter(({ key, body }) => body === null && !shares.has(key)) ?? [];
    if (missing.length > 0) {
      assert(result.kind === "missing");
      return assertEquals(new Set(result.keys), new Set(missing.map(({ key }) => key)));
    }
    assertEquals(result, { kind: "done" });
    const next: Known = {
      id,
      head,
      size: size === undefined ? earlier?.size ?? null : size,
      keys: parts?.map(({ key }) => key) ?? earlier?.keys ?? [],
      share: earlier?.share ?? share,
      ends: lifeMs === null && earlier !== undefined ? earlier.ends : model.time + TTL_MS,
      version: undefined,
    };
    for (const key of next.keys) if (!shares.has(key)) shares.set(key, next.share);
    const list = model.records[type];
    model.records[type] = lifeMs === null && earlier !== undefined
      ? list.map((record) => record === earlier ? next : record)
      : [...list.filter((record) => record !== earlier), next];
    settleParts(model, type);
    makeRoom(model, type, next);
  };
}

function remove(type: ModelType, id: string): RecordStep {
  return async (model, store) => {
    expire(model);
    assertEquals(await commit(store, change(id, "any", null, type)), "done");
    removeIn(model, type, model.records[type].find((record) => record.id === id));
  };
}

function renew(type: ModelType, id: string): RecordStep {
  return async (model, store) => {
    expire(model);
    const earlier = model.records[type].find((record) => record.id === id);
    const [found] = await stored(store.get([{ type, id }], { content: "head", renewMs: TTL_MS }));
    assertEquals(found?.head, earlier?.head);
    if (earlier === undefined) return;
    const others = model.records[type].filter((record) => record !== earlier);
    const version = found?.version;
    model.records[type] = [...others, { ...earlier, version, ends: model.time + TTL_MS }];
  };
}

async function check(model: Model, store: RecordStore): Promise<void> {
  expire(model);
  for (const type of Object.keys(BOUNDS) as ModelType[]) {
    const found = await stored(store.get(IDS.map((id) => ({ type, id })), { content: "all" }));
    for (const [at, id] of IDS.entries()) {
      const record = model.records[type].find((one) => one.id === id);
      const one = found[at] ?? null;
      assertEquals(one?.head, record?.head, `${type} ${id}`);
      if (record === undefined || one === null) continue;
      assertEquals(one.body === null, record.size === null);
      const parts = one.parts.map((
        { key, body },
      ) => [key, new TextDecoder().decode(body ?? bytes(""))]);
      assertEquals(parts, record.keys.map((key) => [key, `content of ${key}`]));
      assert(record.version === undefined || record.version === one.version);
      record.version = one.version;
    }
    const keys = [...model.partShares[type].keys()];
    const uses = await stored(store.named(type, keys.map((key) => `n-${key}`), 9));
    const expected = model.records[type].flatMap(({ id, keys }) =>
      [...new Set(keys)].map((key) => `${key} ${id} ${keys.lastIndexOf(key)}`)
    );
    assertEquals(
      uses.map(({ key, id, position }) => `${key} ${id} ${position}`).toSorted(),
      expected.toSorted(),
    );
    for (const key of keys) {
      const order = uses.filter((use) => use.key === key).toSorted((a, b) => a.order - b.order);
      const byAge = model.records[type].filter((record) => record.keys.includes(key));
      assertEquals(order.map(({ id }) => id), byAge.map(({ id }) => id));
    }
  }
}

const type = fc.constantFrom("response", "reasoning", "relayed_owner");
const id = fc.constantFrom(...IDS);
const keys = fc.array(fc.constantFrom("p", "q", "r", "p", "q", "P", "Q"), { maxLength: 3 });

/** Registers the model test of a record store. */
export function testRecordModel(under: RecordsUnderTest): void {
  const puts = fc.record<Put>({
    type,
    id,
    share: fc.constantFrom("ada", "bob"),
    expected: fc.constantFrom("any", "any", "any", "absent", "absent", "current", "stale"),
    size: fc.constantFrom(undefined, null, 1, 10, 30, 60),
    keys: fc.option(keys, { nil: undefined }),
    keepsAge: fc.boolean(),
  }).map((given) => [`put ${fc.stringify(given)}`, put(given)] as const);
  testModel(under, "records follow a plain model", {
    retention: testBounds(BOUNDS),
    newModel: (): Model => ({
      time: 0,
      made: 0,
      records: { response: [], reasoning: [], relayed_owner: [] },
      partShares: { response: new Map(), reasoning: new Map(), relayed_owner: new Map() },
    }),
    steps: [
      puts,
      puts,
      puts,
      fc.tuple(type, id).map(([type, id]) => [`remove ${type} ${id}`, remove(type, id)] as const),
      fc.tuple(type, id).map(([type, id]) => [`renew ${type} ${id}`, renew(type, id)] as const),
    ],
    check,
  });
}
