/**
 * A native stream as a provider sent it, spelled as no JSON writer of ours would: white space,
 * escapes, exact numbers, unknown members, comments, data over several lines.
 */
export const NATIVE_RECORDS: readonly string[] = [
  ": hello 世界\n\n",
  'event: response.created\ndata: {"type":"response.created", "sequence_number":3,"response":{"id":"resp_\\u0031","object":"response","created_at":1741476777.0,"status":"in_progress","model":"gpt-x","conversation":null,"output":[],"usage":null,"temperature":1.0,"x":{"b":12345678901234567890,"a":1}}}\n\n',
  'id: 17\nretry: 10\nevent: response.in_progress\ndata:{"response" : {"status":"in_progress","id":"resp_1"},\ndata: "type":"response.in_progress","sequence_number": 4 }\n\n',
  'event: response.output_item.added\ndata: {"type":"response.output_item.added","sequence_number":5,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}\n\n',
  "data:\n\n",
  'event: response.content_part.added\ndata: {"type":"response.content_part.added","sequence_number":6,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Gr\\u00fc\\u00dfe 🌍","logprobs":[],"obfuscation":"r4nd0m"}\n\n',
  'event: response.output_text.done\ndata: {"type":"response.output_text.done","sequence_number":9,"response_id":"resp_1","item_id":"msg_1","output_index":0,"content_index":0,"text":"Grüße 🌍","logprobs":[]}\n\n',
  'event: response.content_part.done\ndata: {"type":"response.content_part.done","sequence_number":10,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Grüße 🌍","annotations":[],"logprobs":[]}}\n\n',
  'event: response.output_item.done\ndata: {"type":"response.output_item.done","sequence_number":11,"output_index":0,"item":{"id":"msg_1", "type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Grüße 🌍","annotations":[],"logprobs":[]}]}}\n\n',
  'event: response.completed\ndata: {"type":"response.completed","sequence_number":12,"response":{"id":"resp_1","object":"response","created_at":1741476777.0,"status":"completed","model":"gpt-x","output":[{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Grüße 🌍","annotations":[],"logprobs":[]}]}],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":0},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":13}}}\n\n',
];

/** How many of the records come before the first event. */
export const WAITING_RECORDS = 1;
