import { newReplay, type ReplayRecord, type ReplayResult } from "./replay_records.ts";
import type { ReplayReply, ReplayRequest } from "./replay_thread.ts";

/** Returns the receiver of the messages to a thread that replays. `post` sends its replies. */
export function newReplayThread(
  post: (reply: ReplayReply) => void,
): (request: ReplayRequest) => Promise<void> {
  let replay: ReplayRecord | null = null;
  return async (request) => {
    try {
      if (request.kind === "begin") {
        replay = newReplay(request.settings);
        return;
      }
      const results: ReplayResult[] = [];
      for (const text of request.texts) {
        if (replay === null) throw new TypeError("the settings are missing");
        results.push(await replay(text));
      }
      post(results);
    } catch {
      // The runtime would print the error, which may have what a client has sent.
      post(null);
    }
  };
}
