import type { CallRecord } from "../../src/record/record.ts";
import type { Difference } from "../../src/replay/difference.ts";
import { newRecordSet, type RecordText } from "../../src/replay/record_set.ts";
import { replaySet } from "../../src/replay/replay_set.ts";
import type { StartReplayThread } from "../../src/replay/replay_thread.ts";
import type { Report } from "../../src/replay/report.ts";
import { newReplayThread } from "../../src/replay/worker.ts";
import { parsedConfig } from "./parsed_config.ts";
import { newRecord } from "./records.ts";

/** Starts a thread in this one, whose replies take turns with those of others. */
export const startHere: StartReplayThread = ({ onReply }) => {
  const receive = newReplayThread((reply) => queueMicrotask(() => onReply(reply)));
  return { post: (request) => void receive(structuredClone(request)), terminate: () => {} };
};

/** Returns the report of records, or of lines that are none, under two configurations. */
export function replayed(
  records: readonly (CallRecord | string)[],
  before: string,
  after: string,
  { isExact = false, jobs = 1, start }: {
    isExact?: boolean;
    jobs?: number;
    start?: StartReplayThread;
  } = {},
): Promise<Report> {
  const lines = records.map((one) => typeof one === "string" ? one : JSON.stringify(one));
  const text: RecordText = {
    places: () => lines.map(({ length }, start) => ({ start, length })),
    textAt: ({ start }) => lines[start] ?? "",
  };
  const set = newRecordSet(text, { key: null, sinceMs: () => -Infinity });
  if (typeof set === "string") throw new Error(set);
  return replaySet(
    set,
    {
      before: parsedConfig(before),
      after: parsedConfig(after),
      seed: 1,
      isExact,
      namesAll: false,
      jobs,
      ...start !== undefined && { start },
    },
  );
}

/** Returns the differences of a report as `kind path: before -> after`, in their order. */
export function differencesIn({ groups }: Report): readonly string[] {
  return groups.map(differenceText);
}

function differenceText({ kind, paths, before, after }: Difference): string {
  return `${[kind, ...paths].join(" ")}: ${before} -> ${after}`;
}

/** Returns the record of a request to a path of a client API. */
export function recordOf(
  path: string,
  body: Readonly<Record<string, unknown>>,
  parts: Parameters<typeof newRecord>[0] = {},
): CallRecord {
  const api = path === "/v1/chat/completions" ? "chat_completions" : path.slice("/v1/".length);
  return newRecord({
    ...parts,
    head: { path, api, model_requested: String(body.model ?? ""), ...parts.head },
    request: { body: JSON.stringify(body), ...parts.request },
  });
}
