import { checkSignature, type SignatureRules } from "../../../src/simulator/clouds/signature.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const FIXTURES = new URL("../../upstream/aws_signatures.jsonl", import.meta.url);

/** Checks a request that botocore has signed, with some things changed. */
function checked(line: string, changes: Partial<SignatureRules> & { body?: string } = {}) {
  const { method, url, type, body, scope, keys, wallMs, headers } = JSON.parse(line);
  const [region, service] = scope;
  const [id, secret, session] = keys;
  const sent = new Headers({ ...type !== null && { "content-type": type }, ...headers });
  const text = changes.body ?? body?.text.repeat(body.times) ?? "";
  return checkSignature(
    { method, url: new URL(url), headers: sent, body: new TextEncoder().encode(text) },
    {
      region,
      service,
      nowS: wallMs / 1_000,
      keys: (asked) => asked === id ? { secret, session, endsS: Infinity } : undefined,
      ...changes,
    },
  );
}

const LINES = (await Deno.readTextFile(FIXTURES)).trim().split("\n");

Deno.test("500 requests that botocore has signed are accepted, and none of them with another body", () => {
  for (const line of LINES) {
    assertEquals(checked(line), { id: JSON.parse(line).keys[0] }, JSON.parse(line).url);
    assert("problem" in checked(line, { body: "another" }), line.slice(0, 200));
  }
});

Deno.test("a signature is refused for another service or region, after five minutes, and with keys that have ended or are others", () => {
  const line = LINES.find((one) => JSON.parse(one).keys[2] === null) ?? "";
  const { wallMs, keys: [, secret] } = JSON.parse(line);
  const nowS = wallMs / 1_000;
  const keys = { secret, session: null, endsS: nowS + 1 };
  const problem = (changes: Partial<SignatureRules>) => {
    const result = checked(line, changes);
    return "problem" in result ? result.problem.replace(/ in [^ ]*$/, "") : null;
  };
  assertEquals(problem({ service: "s3" }), "The signature must be for the service s3");
  assert(problem({ region: "mars-1" })?.startsWith("The signature must be for the service"));
  const late = "The time of the signature differs from the time of the service.";
  const times = [-301, -300, 300, 301].map((shift) => problem({ nowS: nowS + shift }));
  assertEquals(times, [late, null, null, late]);
  assertEquals(problem({ keys: () => undefined }), "The access key ID is not known.");
  assertEquals(problem({ keys: () => keys }), null);
  const ended = () => ({ ...keys, endsS: nowS });
  assertEquals(problem({ keys: ended }), "The temporary keys have ended.");
  const other = () => ({ ...keys, secret: `${secret}x` });
  assertEquals(problem({ keys: other }), "The signature is not that of the request.");
  const temporary = () => ({ ...keys, session: "s" });
  assertEquals(problem({ keys: temporary }), "The session token is not that of the keys.");
});
