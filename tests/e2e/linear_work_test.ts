import { assertEquals } from "../support/assert.ts";
import { ANSWERS } from "../support/growth/responses.ts";
import { CHAT_REQUESTS } from "../support/growth/chat_requests.ts";
import { growthProblem } from "../support/growth/doubling.ts";
import { MESSAGES_REQUESTS } from "../support/growth/messages_requests.ts";
import { OTHER_CALLS } from "../support/growth/other_requests.ts";
import { RELAYED_CALLS } from "../support/growth/relayed_calls.ts";
import { RELAYED_MESSAGES } from "../support/growth/relayed_messages.ts";
import { RESPONSES_REQUESTS } from "../support/growth/responses_requests.ts";
import { VERIFIED_CALLS } from "../support/growth/verified_calls.ts";
import { SOCKET_CALLS } from "../support/growth/socket_calls.ts";

// The one promise that is about time: see how it is measured before it is made to fail less often.
const CALLS = [
  ...CHAT_REQUESTS,
  ...RESPONSES_REQUESTS,
  ...MESSAGES_REQUESTS,
  ...RELAYED_MESSAGES,
  ...OTHER_CALLS,
  ...RELAYED_CALLS,
  ...ANSWERS,
  ...SOCKET_CALLS,
  ...VERIFIED_CALLS,
];

for (const call of CALLS) {
  Deno.test(`${call.name}: twice as many take at most three times as long`, async () => {
    assertEquals(await growthProblem(call), null);
  });
}
