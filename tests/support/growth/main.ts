import { ANSWERS } from "./responses.ts";
import { CHAT_REQUESTS } from "./chat_requests.ts";
import { growthProblem } from "./doubling.ts";
import { HOST_REQUESTS } from "./host_requests.ts";
import { MESSAGES_REQUESTS } from "./messages_requests.ts";
import { OTHER_CALLS } from "./other_requests.ts";
import { RELAYED_CALLS } from "./relayed_calls.ts";
import { RELAYED_MESSAGES } from "./relayed_messages.ts";
import { RESPONSES_REQUESTS } from "./responses_requests.ts";
import { VERIFIED_CALLS } from "./verified_calls.ts";
import { SOCKET_CALLS } from "./socket_calls.ts";

/**
 * Doubles each kind of list on each endpoint and provider type. Prints the calls whose time grows
 * faster than the list, then a line with the counts; the exit code is 1 if there are any. See how
 * `growthProblem` measures before it is made to fail less often.
 */
const CALLS = [
  ...CHAT_REQUESTS,
  ...HOST_REQUESTS,
  ...RESPONSES_REQUESTS,
  ...MESSAGES_REQUESTS,
  ...RELAYED_MESSAGES,
  ...OTHER_CALLS,
  ...RELAYED_CALLS,
  ...ANSWERS,
  ...SOCKET_CALLS,
  ...VERIFIED_CALLS,
];

/** Returns why a call cannot be measured: it is accepted or refused unexpectedly. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

let failedCount = 0;
for (const call of CALLS) {
  const problem = await growthProblem(call).catch(messageOf);
  if (problem === null) continue;
  failedCount++;
  console.log(`growth ${call.name}: ${problem}`);
}
const missed = failedCount === 0 ? "" : " missed";
console.log(
  `growth ${CALLS.length} calls of twice the size, ${failedCount} take more than three times as long  <= 0${missed}`,
);
Deno.exit(failedCount === 0 ? 0 : 1);
