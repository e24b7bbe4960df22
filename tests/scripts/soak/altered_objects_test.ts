import { USES } from "../../../scripts/soak/load.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { runOnce } from "./run_once.ts";

/** Changes of the responses about stored objects: what, which uses notice it, its problem. */
const STORED_ALTERATIONS:
  readonly (readonly [string, RegExp, RegExp, (text: string, path: string) => string])[] = [
    [
      "a deletion names another object",
      /^(conversations|stored chat over native|files, .*|(cancelled )?background responses over native|stored responses over native)$/,
      /the response of the deletion is/,
      (text) => text.includes('"deleted":true') ? text.replace(/"id": ?"\w+_?-?/, "$&x") : text,
    ],
    [
      "a deletion says that nothing was deleted",
      /^(conversations|stored chat over native|files, .*)$/,
      /the response of the deletion is/,
      (text) => text.replace('"deleted":true', '"deleted":false'),
    ],
    [
      "a list has no elements",
      /^(conversations|stored chat over native|files, .*|stored responses over .*)$/,
      /is \[\], not \[|the page is/,
      (text) => text.replace(/"data": ?\[\{.*\}\],(?="first_id")/, '"data":[],'),
    ],
    [
      "a list names another last element",
      /^(conversations|stored chat over native|files, .*|stored responses over .*)$/,
      /the page is/,
      (text) => text.replace(/"last_id": ?"/, "$&x"),
    ],
    [
      "a cancelled response has another status",
      /^cancelled background responses over native$/,
      /the cancelled response is/,
      (text) => text.replaceAll('"status":"cancelled"', '"status":"in_progress"'),
    ],
    [
      "the cancellation of a complete response changes it",
      /^background responses over native$/,
      /the complete response after its cancellation is/,
      (text, path) => path.endsWith("/cancel") ? text.replace('"completed"', '"cancelled"') : text,
    ],
    [
      "a cancelled batch or upload is not cancelled",
      /^files, /,
      /the cancelled batch is/,
      (text) => text.replaceAll('"status":"cancelled"', '"status":"completed"'),
    ],
  ];

for (const [what, uses, problem, alter] of STORED_ALTERATIONS) {
  Deno.test(`a soak notices that ${what}`, async () => {
    const { problems } = await runOnce(uses, async (response, path) => {
      const isJson = response.headers.get("content-type")?.startsWith("application/json");
      return isJson ? new Response(alter(await response.text(), path), response) : response;
    });
    assertEquals(problems.length, USES.filter(({ name }) => uses.test(name)).length);
    for (const one of problems) assertMatch(one, problem);
  });
}
