import { type GrowingCall, mostWithin } from "./doubling.ts";
import { growingCall } from "./growing_gateway.ts";
import { json, times } from "./spoken.ts";

const FORM = { "content-type": "multipart/form-data; boundary=b" };
const NAMED = { "x-gateway-provider": "native" };

function part(name: string, content: string): string {
  return `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
}

/** The multipart request of a transcription with more parts, and a file with this content. */
function transcription(more: string, content = "x") {
  const file = `--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n${content}`;
  return {
    path: "/audio/transcriptions",
    headers: FORM,
    body: `${part("model", "native/m")}${more}${file}\r\n--b--\r\n`,
    answer: json({ text: "a" }),
  };
}

function stream(records: readonly string[]) {
  return {
    body: records.map((data) => `data: ${data}\n\n`).join(""),
    headers: [["content-type", "text/event-stream"]] as const,
  };
}

/** Calls of relayed endpoints, in which one thing of the request or of the answer grows. */
export const RELAYED_CALLS: readonly GrowingCall[] = [
  growingCall("completions: records of a stream", (n) => ({
    path: "/completions",
    body: JSON.stringify({ model: "native/m", prompt: "a", stream: true }),
    answer: stream([...times(n, () => '{"choices":[{"index":0,"text":"a"}]}'), "[DONE]"]),
  })),
  growingCall("moderations: inputs", (n) => ({
    path: "/moderations",
    body: JSON.stringify({ model: "native/m", input: times(n, () => "a") }),
    answer: json({ results: times(n, () => ({ flagged: false })) }),
  })),
  growingCall(
    "transcriptions: parts",
    (n) => transcription(times(n, () => part("x", "")).join("")),
    // A form has at most 1,024 parts, of which two are the model and the file.
    { most: mostWithin(1_022) },
  ),
  growingCall("transcriptions: bytes of a file", (n) => transcription("", "ab".repeat(n))),
  growingCall("transcriptions: line ends in a file", (n) => transcription("", "\r\n".repeat(n))),
  growingCall(
    "transcriptions: beginnings of a boundary",
    (n) => transcription("", "\r\n--".repeat(n)),
  ),
  growingCall("batches: objects of a list", (n) => ({
    method: "GET",
    path: "/batches",
    headers: NAMED,
    answer: json({
      object: "list",
      data: times(n, (at) => ({ id: `batch-${at}`, output_file_id: `file-${at}` })),
    }),
  })),
  growingCall("files: objects of a list", (n) => ({
    method: "GET",
    path: "/files",
    headers: NAMED,
    answer: json({ object: "list", data: times(n, (at) => ({ id: `file-${at}` })) }),
  })),
];
