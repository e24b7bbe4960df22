import { type CellReport, type TriedCell, verdictOf } from "../../../scripts/clients/matrix.ts";
import { assertEquals } from "../../support/assert.ts";

const CELL: TriedCell = {
  key: "sk-1",
  shot: "question",
  type: "local",
  set: "declared",
  error: null,
};
const REPORT: CellReport = {
  verified: false,
  lossy: [],
  refusal: null,
  fault: null,
  isEarly: false,
  isPosted: true,
  sessions: [],
};

Deno.test("a client that received everything runs, verified if a response was, and with the fields that were lost", () => {
  assertEquals(verdictOf(CELL, REPORT), "runs");
  assertEquals(verdictOf(CELL, { ...REPORT, verified: true }), "runs verified");
  const lossy = { ...REPORT, lossy: ["messages[1].name", "user"] };
  assertEquals(verdictOf(CELL, lossy), "runs, lossy: messages[1].name, user");
});

Deno.test("a client that failed was refused only if the gateway refused a call and no provider failed", () => {
  const failed = { ...CELL, error: "Error: 400" };
  const refused = { ...REPORT, refusal: "Set the key." };
  assertEquals(verdictOf(failed, refused), "refused: Set the key.");
  const broken = { ...refused, fault: "upstream_rejected: Status 400." };
  assertEquals(verdictOf(failed, broken), "fails: upstream_rejected: Status 400. Error: 400");
  assertEquals(verdictOf(failed, REPORT), "fails: Error: 400");
});

Deno.test("a client that received everything although a call was refused runs", () => {
  assertEquals(verdictOf(CELL, { ...REPORT, refusal: "Set the key." }), "runs");
});

Deno.test("uses with an early head run only if a response began early", () => {
  for (const shot of ["silent", "failing", "lost"] as const) {
    assertEquals(verdictOf({ ...CELL, shot }, REPORT), "fails: no response began early");
    assertEquals(verdictOf({ ...CELL, shot }, { ...REPORT, isEarly: true }), "runs");
  }
});

Deno.test("a client of WebSockets runs only if no call of it came over HTTP", () => {
  const cell = { ...CELL, usesWebSocket: true };
  assertEquals(verdictOf(cell, REPORT), "fails: a call did not come over the WebSocket");
  assertEquals(verdictOf(cell, { ...REPORT, isPosted: false }), "runs");
});

Deno.test("a run of an agent whose calls are in several sessions fails", () => {
  for (const shot of ["files", "gemini", "openrouter", "named"] as const) {
    assertEquals(verdictOf({ ...CELL, shot }, { ...REPORT, sessions: ["a"] }), "runs");
    assertEquals(
      verdictOf({ ...CELL, shot }, { ...REPORT, sessions: ["a", "b"] }),
      "fails: the calls of one run are in several sessions",
    );
  }
  assertEquals(verdictOf(CELL, { ...REPORT, sessions: ["a", "b"] }), "runs");
});
