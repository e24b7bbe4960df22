import { problemOf } from "../store/sqlite/errors.ts";
import type { RecordReply, RecordRequest } from "./messages.ts";
import { openRecordFile, type RecordFile } from "./record_file.ts";

/** Returns the receiver of the messages to the thread of the records. `post` sends its replies. */
export function newRecordThread(
  post: (reply: RecordReply) => void,
): (request: RecordRequest) => void {
  let file: RecordFile | null = null;

  function opened(): RecordFile {
    if (file === null) throw new TypeError("the file is not open");
    return file;
  }

  function receive(request: RecordRequest): void {
    switch (request.kind) {
      case "open":
        try {
          file = openRecordFile(request.options);
          return post({ kind: "opened", totals: file.expire(request.now) });
        } catch (error) {
          return post({ kind: "refused", problem: problemOf(error) });
        }
      case "write":
        return post({ kind: "written", written: opened().write(request.records, request.now) });
      case "expire":
        return expire(request.now);
      case "apply":
        return opened().apply(request.settings);
      case "scan":
        return post({ kind: "scanned", id: request.id, result: opened().scan(request.request) });
      case "close":
        file?.close();
        file = null;
        return post({ kind: "closed" });
    }
  }

  function expire(now: number): void {
    const current = opened();
    try {
      current.expire(now);
    } catch {
      // The next write reports what is wrong with the disk.
    }
    post({ kind: "expired", totals: current.totals() });
  }

  return (request) => {
    try {
      receive(request);
    } catch {
      // The runtime would write the error to the log, and errors may have what a client has sent.
      post({ kind: "broken" });
    }
  };
}
