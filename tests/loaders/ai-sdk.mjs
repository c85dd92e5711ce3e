// Check messages by the AI SDK's own schema (those of its interface are made messages of a model by
// it first), put them before a model that only listens, and print the calls and results that it
// would have been sent.
import { readFileSync } from "node:fs";
import {
  convertToModelMessages,
  generateText,
  modelMessageSchema,
  validateUIMessages,
} from "ai";
import { MockLanguageModelV3 } from "ai/test";

const given = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const shown = given.every((message) => "parts" in message);
const messages = shown
  ? await convertToModelMessages(await validateUIMessages({ messages: given }))
  : given;
for (const message of messages) modelMessageSchema.parse(message);
let sent = [];
const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    sent = prompt;
    return {
      content: [{ type: "text", text: "." }],
      finishReason: { unified: "stop", raw: "stop" },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
    };
  },
});
await generateText({ model, messages });
const parts = sent.flatMap((message) => (Array.isArray(message.content) ? message.content : []));
const order = parts.filter((part) => part.toolCallId).map((part) => [part.type, part.toolCallId]);
const calls = parts.filter((part) => part.type === "tool-call");
const results = parts.filter((part) => part.type === "tool-result");
console.log(JSON.stringify({
  order,
  calls: calls.map((call) => [call.toolCallId, call.toolName, call.input]),
  results: Object.fromEntries(
    results.map((one) => [one.toolCallId, one.output.type.startsWith("error")]),
  ),
}));
